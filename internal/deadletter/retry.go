package deadletter

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed256f7767/spade/schemas/event"
)

// headerRetry is the record header that says which record this one repeats: its partition, a slash and its offset, in the
// same topic. Consumers pass over headers that they do not know.
const headerRetry = "spade-retry-of"

// Retry makes the record that repeats one of the dead letters: the same key, value, headers and time, and which it repeats.
func Retry(r event.Record) event.Record {
	headers := make([]event.Header, 0, len(r.Headers)+1)
	for _, h := range r.Headers {
		if h.Key != headerRetry {
			headers = append(headers, h)
		}
	}
	r.Headers = append(headers, event.Header{
		Key: headerRetry, Value: fmt.Appendf(nil, "%d/%d", r.Partition, r.Offset),
	})
	return r
}

// RetryOf says which record of the same topic a record repeats; ok is false when it repeats none.
func RetryOf(r event.Record) (partition int32, offset int64, ok bool) {
	for _, h := range r.Headers {
		if h.Key != headerRetry {
			continue
		}
		p, o, found := strings.Cut(string(h.Value), "/")
		number, err := strconv.ParseInt(p, 10, 32)
		if err != nil || !found {
			return 0, 0, false
		}
		if offset, err = strconv.ParseInt(o, 10, 64); err != nil {
			return 0, 0, false
		}
		return int32(number), offset, true
	}
	return 0, 0, false
}
