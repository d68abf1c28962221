package config

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// bucket begins the URL of a bucket of an object store.
const bucket = "s3://"

// secured checks what services are trusted by and logged in to with.
func (c *checker) secured() {
	if c.l.ClickHouse.CA != "" && strings.HasPrefix(c.l.ClickHouse.URL, "http://") {
		c.fail("clickhouse.ca", "says whom to trust although clickhouse.url is http://, which trusts everybody; write https://")
	}
	if c.l.Qdrant.CA != "" && c.l.Qdrant.Addr != "" && !c.l.Qdrant.TLS {
		c.fail("qdrant.ca", "says whom to trust although qdrant.tls is off; set it to true")
	}
	c.httpURL("s3.endpoint", c.l.S3.Endpoint)
	if (c.l.S3.AccessKey == "") != c.l.S3.SecretKey.IsZero() {
		c.fail("s3.access_key", "comes with s3.secret_key or not at all")
	}
	if place := c.l.Checkpoints; strings.HasPrefix(place, bucket) && strings.Trim(place[len(bucket):], "/") == "" {
		c.fail("checkpoints", "names no bucket: want s3://BUCKET/PREFIX")
	} else if strings.Contains(place, "://") && !strings.HasPrefix(place, bucket) && !strings.HasPrefix(place, "file://") {
		c.fail("checkpoints", "is neither a folder nor s3://BUCKET/PREFIX")
	}
}

// loginKeys are parts of a URL's query that carry credentials. A URL is printed.
func loginKeys() []string {
	return []string{"user", "username", "password", "key", "api_key", "api-key", "apikey", "token", "access_token", "secret", "sig", "signature"}
}

// carriesLogin reports a query that holds what is nobody's to see.
func carriesLogin(u *url.URL) bool {
	for key := range u.Query() {
		if slices.Contains(loginKeys(), strings.ToLower(key)) {
			return true
		}
	}
	return false
}

// InPlainText names the services that the configuration logs in to by a network in plain text, each with the setting that would
// change it. What is on this machine is not among them.
func (c Config) InPlainText() []string {
	var all []string
	if k := c.Kafka; !k.TLS && !k.Password.IsZero() && slices.ContainsFunc(k.Brokers, far) {
		all = append(all, "kafka.password goes to kafka.brokers in plain text: set kafka.tls")
	}
	if h := c.ClickHouse; !h.Password.IsZero() && farURL(h.URL) {
		all = append(all, "clickhouse.password goes to clickhouse.url in plain text: write https://")
	}
	if q := c.Qdrant; !q.TLS && !q.APIKey.IsZero() && q.Addr != "" && far(q.Addr) {
		all = append(all, "qdrant.api_key goes to qdrant.addr in plain text: set qdrant.tls")
	}
	if e := c.Embeddings; !e.Key.IsZero() && farURL(e.URL) {
		all = append(all, "embeddings.key goes to embeddings.url in plain text: write https://")
	}
	if p := c.Policy; !p.Token.IsZero() && p.CA == "" && p.Addr != "" && far(p.Addr) {
		all = append(all, "policy.token goes to policy.addr in plain text, and so does every prompt: set policy.ca")
	}
	if p := c.Policy; !p.Token.IsZero() && p.Cert == "" && p.Listen != "" && far(p.Listen) {
		all = append(all, "policy.token comes to policy.listen in plain text, and so does every prompt: set policy.cert and policy.key")
	}
	return all
}

func farURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "http" && far(u.Host)
}

// far reports an address that is not this machine's.
func far(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}
