// Package sandboxtest runs tests again under other circumstances: as another user, or in a process that has given something
// up.
package sandboxtest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"
)

// Nobody is how a process starts as an unprivileged user. The caller must be root.
func Nobody() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

// Rerun runs tests of this binary in another process, from a copy that every user can reach. The pattern has the whole name of
// each, and each must run and pass.
func Rerun(t *testing.T, pattern string, attr *syscall.SysProcAttr, env ...string) {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "spadetest")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a copy of the tests
	path := filepath.Join(dir, "again.test")
	if err := errors.Join(os.Chmod(dir, 0o755), copyFile("/proc/self/exe", path)); err != nil { //nolint:gosec // others run it
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "-test.run", pattern, "-test.v")
	cmd.Env = append([]string{"PATH=/usr/bin:/bin:" + os.Getenv("PATH"), "HOME=/"}, env...)
	cmd.Dir = "/"
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	if lacking := lacking(pattern, string(out)); err != nil || len(lacking) > 0 {
		t.Errorf("%v; did not pass: %v\n%s", err, lacking, out)
	}
}

var (
	testName = regexp.MustCompile(`Test\w*`)
	skipped  = regexp.MustCompile(`(?m)^\s*--- SKIP: (\S+)`)
)

// lacking names the tests of a pattern that have not passed by what they printed, and all that were skipped: tests within
// others too.
func lacking(pattern, printed string) []string {
	var names []string
	for _, name := range testName.FindAllString(pattern, -1) {
		if !regexp.MustCompile(`(?m)^--- PASS: ` + name + ` \(`).MatchString(printed) {
			names = append(names, name)
		}
	}
	for _, m := range skipped.FindAllStringSubmatch(printed, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()                                                      //nolint:errcheck // only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755) //nolint:gosec // a program
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
