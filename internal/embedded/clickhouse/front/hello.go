package front

import (
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// clickhouse-go over HTTP begins every connection with this query. It decodes the answer as a Native block of its own
// protocol revision, and all later answers as blocks of the revision that stands in the answer. The engine writes
// Native as of revision 0, so the greeting alone is answered by hand, with revision 0 in it, and every later answer
// is passed through as it is.
const greeting = "SELECT displayName(), version(), revision(), timezone()"

func isGreeting(sql string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(strings.TrimRight(sql, "; \n")), " "), greeting)
}

// greet encodes the answer to the greeting, as a client of the given protocol revision decodes it.
func (h *Handler) greet(client int) ([]byte, error) {
	name, version, zone := new(proto.ColStr), new(proto.ColStr), new(proto.ColStr)
	revision := new(proto.ColUInt32)
	name.Append("spade")
	version.Append(h.version)
	revision.Append(0)
	zone.Append("UTC")
	input := proto.Input{
		{Name: "displayName()", Data: name},
		{Name: "version()", Data: version},
		{Name: "revision()", Data: revision},
		{Name: "timezone()", Data: zone},
	}
	var buf proto.Buffer
	block := proto.Block{Info: proto.BlockInfo{BucketNum: -1}, Columns: len(input), Rows: 1}
	if err := block.EncodeBlock(&buf, client, input); err != nil {
		return nil, fmt.Errorf("encode the greeting: %w", err)
	}
	return buf.Buf, nil
}
