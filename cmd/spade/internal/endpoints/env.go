package endpoints

import (
	"fmt"
	"io"
	"strings"
)

// WriteEnv writes lines that a shell can evaluate, so that other clients reach the services, and how some of them are
// called. They hold the passwords.
func (s *Services) WriteEnv(w io.Writer) error {
	var b strings.Builder
	for _, line := range s.Endpoints.Env() {
		name, value, _ := strings.Cut(line, "=")
		fmt.Fprintf(&b, "export %s=%s\n", name, Quote(value))
	}
	k := s.Endpoints.Kafka
	protocol := "PLAINTEXT"
	switch {
	case k.TLS.Enabled && k.User != "":
		protocol = "SASL_SSL"
	case k.TLS.Enabled:
		protocol = "SSL"
	case k.User != "":
		protocol = "SASL_PLAINTEXT"
	}
	fmt.Fprintf(&b, `# kcat -b "$SPADE_KAFKA_BROKERS" -X security.protocol=%s -X sasl.mechanisms=%s`+
		` -X sasl.username="$SPADE_KAFKA_USER" -X sasl.password="$SPADE_KAFKA_PASSWORD" -C -e -J -t spade.runs`+"\n", protocol, k.Mechanism)
	user, password := "SPADE_CLICKHOUSE_USER", "SPADE_CLICKHOUSE_PASSWORD"
	if !s.Endpoints.ClickHouse.Reader.IsZero() {
		user, password = "CLICKHOUSE_READER_USER", "CLICKHOUSE_READER_PASSWORD"
	}
	fmt.Fprintf(&b, `# curl -u "$%s:$%s" "$SPADE_CLICKHOUSE_URL/?database=spade" --data 'SELECT * FROM runs'`+"\n", user, password)
	_, err := io.WriteString(w, b.String())
	return err
}

// Quote makes a text one word of a shell command.
func Quote(text string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("-_./:,", r) || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
