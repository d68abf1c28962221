package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/config"
)

const canary = "canary-77aa"

func TestNoSecretIsPrinted(t *testing.T) {
	l, err := config.Load(config.Sources{File: file(t, ""), Environ: []string{
		"SPADE_CLICKHOUSE_URL=https://me:" + canary + "@db.example:8443/?x=1",
		"SPADE_KAFKA_USER=u", "SPADE_KAFKA_PASSWORD=" + canary, "SPADE_QDRANT_API_KEY=" + canary,
		"SPADE_EMBEDDINGS_KEY=" + canary, "SPADE_POLICY_TOKEN=" + canary,
		"SPADE_S3_ACCESS_KEY=a", "SPADE_S3_SECRET_KEY=" + canary,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if l.ClickHouse.User != "me" || l.ClickHouse.Password.Reveal() != canary {
		t.Error("the URL's credentials were lost")
	}
	if l.ClickHouse.URL != "https://db.example:8443/?x=1" {
		t.Errorf("URL %s", l.ClickHouse.URL)
	}
	var out bytes.Buffer
	if err := l.WriteYAML(&out); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(&out).Encode(l.Settings()); err != nil {
		t.Fatal(err)
	}
	deployment, err := l.DeploymentJSON()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "%s %+v %#v %v", deployment, l, l, l.Semantic(config.Resolved{}))
	if strings.Contains(out.String(), canary) {
		t.Errorf("a secret was printed:\n%s", out.String())
	}
	if !strings.Contains(out.String(), `# api_key: '***'`) {
		t.Errorf("a set secret does not show as set:\n%s", out.String())
	}
}

func TestErrorsQuoteNoCredentials(t *testing.T) {
	for _, environ := range [][]string{
		{"SPADE_CLICKHOUSE_URL=https://me:" + canary + "@db:port:x"},
		{"SPADE_CLICKHOUSE_URL=https://db/?user=u&password=" + canary},
		{"SPADE_CLICKHOUSE_URL=ftp://me:" + canary + "@db"},
		{"SPADE_CLICKHOUSE_URL=http://me:" + canary + "@db", "SPADE_CLICKHOUSE_USER=other"},
		{"SPADE_CHECKPOINTS=s3://me:" + canary + "@bucket"},
		{"SPADE_CHECKPOINTS=gs://" + canary},
		{"SPADE_S3_ENDPOINT=https://me:" + canary + "@s3"},
		{"SPADE_S3_ENDPOINT=" + canary},
		{"SPADE_S3_SECRET_KEY=" + canary},
		{"SPADE_TRACE_ENDPOINT=https://me:" + canary + "@s3:port:x"},
		{"SPADE_QDRANT_ADDR=me:" + canary + "@q:6334"},
		{"SPADE_KAFKA_BROKERS=" + canary + "@b:9092"},
		{"SPADE_EMBEDDINGS_URL=https://e/v1?api_key=" + canary, "SPADE_EMBEDDINGS_MODEL=m", "SPADE_EMBEDDINGS_DIM=8"},
		{"SPADE_EMBEDDINGS_URL=https://me:" + canary + "@e", "SPADE_EMBEDDINGS_MODEL=m", "SPADE_EMBEDDINGS_DIM=8"},
	} {
		_, err := config.Load(config.Sources{File: file(t, ""), Environ: environ})
		if err == nil {
			t.Errorf("%s: accepted", environ)
		} else if strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", environ, err)
		}
	}
}
