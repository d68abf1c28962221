package config_test

import (
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/config"
)

func TestWhatSecuresNothingIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		flags map[string]string
		want  string
	}{
		"trust without TLS, ClickHouse": {map[string]string{"clickhouse.url": "http://db:8123", "clickhouse.ca": "ca.pem"}, "clickhouse.ca"},
		"trust without TLS, Qdrant":     {map[string]string{"qdrant.addr": "q:6334", "qdrant.ca": "ca.pem"}, "qdrant.ca"},
		"half a login":                  {map[string]string{"checkpoints": "s3://b/p", "s3.access_key": "a"}, "s3.access_key"},
		"no bucket":                     {map[string]string{"checkpoints": "s3:///"}, "checkpoints"},
		"another store":                 {map[string]string{"checkpoints": "gs://b"}, "checkpoints"},
		"an endpoint that is none":      {map[string]string{"checkpoints": "s3://b", "s3.endpoint": "localhost:9000"}, "s3.endpoint"},
	} {
		_, err := config.Load(config.Sources{Flags: tc.flags})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, place := range []string{"s3://b", "s3://b/p/q", "/a/b%", "file:///x"} {
		if _, err := config.Load(config.Sources{Flags: map[string]string{"checkpoints": place}}); err != nil {
			t.Errorf("%s: %v", place, err)
		}
	}
}

func TestLoginsInPlainTextAreNamed(t *testing.T) {
	far := map[string]string{
		"kafka.brokers": "127.0.0.1:1,b:9092", "kafka.user": "u", "kafka.password": "p", "clickhouse.url": "http://db:8123", "clickhouse.user": "u",
		"clickhouse.password": "p", "qdrant.addr": "q:6334", "qdrant.api_key": "k",
		"embeddings.url": "http://e/v1", "embeddings.key": "k", "embeddings.model": "m", "embeddings.dim": "8",
		"policy.token": "a token that is long enough for anybody", "policy.addr": "p:7000", "policy.listen": "0.0.0.0:7000",
	}
	with := func(change map[string]string) []string {
		flags := map[string]string{}
		for _, from := range []map[string]string{far, change} {
			for k, v := range from {
				flags[k] = v
			}
		}
		l, err := config.Load(config.Sources{Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		return l.InPlainText()
	}
	if got := with(nil); len(got) != 6 {
		t.Errorf("%q", got)
	}
	if got := with(map[string]string{
		"kafka.tls": "true", "clickhouse.url": "https://db", "qdrant.tls": "true", "embeddings.url": "https://e/v1",
		"policy.ca": "ca.pem", "policy.cert": "c.pem", "policy.key": "k.pem",
	}); got != nil {
		t.Errorf("by TLS: %q", got)
	}
	if got := with(map[string]string{
		"kafka.brokers": "localhost:9092", "clickhouse.url": "http://127.0.0.1:8123", "qdrant.addr": "[::1]:6334", "embeddings.url": "http://127.9.9.9/v1",
		"policy.addr": "localhost:7000", "policy.listen": "127.0.0.1:7000",
	}); got != nil {
		t.Errorf("on this machine: %q", got)
	}
}
