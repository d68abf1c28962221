package bus

import "strings"

// onWire is the name that the cluster knows a topic or a group by.
func (c *Client) onWire(name string) string { return c.cfg.Prefix + name }

func (c *Client) offWire(name string) string { return strings.TrimPrefix(name, c.cfg.Prefix) }

func (c *Client) allOnWire(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = c.onWire(name)
	}
	return out
}

func (c *Client) offsetsOnWire(offsets map[string]map[int]int64) map[string]map[int]int64 {
	out := make(map[string]map[int]int64, len(offsets))
	for topic, at := range offsets {
		out[c.onWire(topic)] = at
	}
	return out
}
