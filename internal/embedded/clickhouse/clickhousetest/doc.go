// Package clickhousetest gives tests a running embedded ClickHouse.
//
// The child process is the test binary itself, so a package that uses Start calls Child first in its TestMain:
//
//	func TestMain(m *testing.M) {
//		clickhousetest.Child()
//		goleak.VerifyTestMain(m)
//	}
package clickhousetest
