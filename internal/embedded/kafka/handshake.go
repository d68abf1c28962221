package kafka

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// kfake offers SaslHandshake from version 1 on. librdkafka, and so kcat and most clients that are not Go or Java, looks for
// version 0, which Kafka offers as well, and takes its absence for a broker without SASL; it then uses version 1 all the
// same. So the answer to ApiVersions is mended on its way out. A client that does use version 0 is refused, as before.

// Write passes an answer on. kfake writes an answer with one call, and answers ApiVersions before the next request.
func (c *guardConn) Write(p []byte) (int, error) {
	if c.versions.CompareAndSwap(true, false) {
		p = offerOldHandshake(p)
	}
	return c.Conn.Write(p)
}

// offerOldHandshake lowers the least version of SaslHandshake to 0 in a copy of an answer to ApiVersions. An entry of it
// is the key, the least and the greatest version, two bytes each; six bytes are pattern enough, since keys ascend and no
// earlier entry can hold them.
func offerOldHandshake(p []byte) []byte {
	mended := append([]byte(nil), p...)
	for i := 0; i+6 <= len(mended); i++ {
		key, least, most := binary.BigEndian.Uint16(mended[i:]), mended[i+2:i+4], binary.BigEndian.Uint16(mended[i+4:])
		if key == uint16(kmsg.SASLHandshake) && binary.BigEndian.Uint16(least) == 1 && most == 1 {
			binary.BigEndian.PutUint16(least, 0)
			break
		}
	}
	return mended
}
