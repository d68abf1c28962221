package security

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/kafka"
	"github.com/seed256f7767/spade/internal/embedded/qdrant"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/trust/trusttest"
	"github.com/seed256f7767/spade/schemas/topics"
)

// The secrets that the program is given.
const (
	kafkaPassword   = "kafka.password"
	clickPassword   = "clickhouse.password"
	qdrantKey       = "qdrant.api_key"
	embeddingsKey   = "embeddings.key"
	s3Secret        = "s3.secret_key"
	policyToken     = "policy.token"
	anotherOfTheirs = "a wrong password"
)

// servers are services of a user's own, each with a canary for its secret.
type servers struct {
	ca               *trusttest.CA
	kafka            string // address
	click            *clickhouse.Server
	clickDir, vecDir string
	kafkaDir         string
	clickTLS, vecTLS string // addresses
	vec              *qdrant.Server
	embed, s3        string // addresses, by TLS
	s3data           *s3mem.Backend
}

type service interface {
	Start(ctx context.Context) error
	Shutdown(ctx context.Context) error
	Addr() string
}

func begin[S service](t *testing.T, s S, err error) S {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

func start(t *testing.T) *servers {
	t.Helper()
	w := &servers{ca: trusttest.NewCA(t), clickDir: t.TempDir(), vecDir: t.TempDir(), kafkaDir: t.TempDir()}
	k, err := kafka.New(kafka.Config{Dir: w.kafkaDir, User: "spade", Password: secret.New(canary(kafkaPassword))}, kafka.Settings{})
	w.kafka = begin(t, k, err).Addr()
	c, err := clickhouse.New(clickhouse.Config{Dir: w.clickDir, User: "spade", Password: secret.New(canary(clickPassword))}, clickhouse.Settings{})
	w.click = begin(t, c, err)
	w.clickTLS = trusttest.Front(t, w.ca.Now(t), w.click.Addr())
	v, err := qdrant.New(qdrant.Config{Dir: w.vecDir, Addr: "127.0.0.1:0", APIKey: secret.New(canary(qdrantKey))}, qdrant.Settings{})
	w.vec = begin(t, v, err)
	w.vecTLS = trusttest.Front(t, w.ca.Now(t), w.vec.Addr(), "h2")
	w.embed = w.front(t, http.HandlerFunc(embed))
	w.s3data = s3mem.New()
	if err := w.s3data.CreateBucket("states"); err != nil {
		t.Fatal(err)
	}
	w.s3 = w.front(t, gofakes3.New(w.s3data).Server())
	return w
}

func (w *servers) front(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return trusttest.Front(t, w.ca.Now(t), s.Listener.Addr().String())
}

// embed answers as an embeddings endpoint: a vector by the letters of a text.
func embed(rw http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+canary(embeddingsKey) {
		// Some servers repeat the key that they refuse.
		http.Error(rw, "no such key: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		return
	}
	var req struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	type vector struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var data []vector
	for i, text := range req.Input {
		v := make([]float64, 16)
		for j := range len(text) {
			v[(int(text[j])*31+j)%16]++
		}
		v[0]++
		data = append(data, vector{i, v})
	}
	_ = json.NewEncoder(rw).Encode(map[string]any{"data": data}) // the client says what it lacks
}

// environ is what a user would set.
func (w *servers) environ() []string {
	click := url.URL{Scheme: "https", Host: w.clickTLS, User: url.UserPassword("spade", canary(clickPassword))}
	return []string{
		"SSL_CERT_FILE=" + w.ca.File,
		"SPADE_LOG_LEVEL=debug",
		"SPADE_KAFKA_BROKERS=" + w.kafka, "SPADE_KAFKA_USER=spade", "SPADE_KAFKA_SASL=scram-sha-256", "SPADE_KAFKA_PASSWORD=" + canary(kafkaPassword),
		"SPADE_CLICKHOUSE_URL=" + click.String(), "SPADE_CLICKHOUSE_CA=" + w.ca.File,
		"SPADE_QDRANT_ADDR=" + w.vecTLS, "SPADE_QDRANT_TLS=true", "SPADE_QDRANT_CA=" + w.ca.File, "SPADE_QDRANT_API_KEY=" + canary(qdrantKey),
		"SPADE_EMBEDDINGS_URL=https://" + w.embed + "/v1", "SPADE_EMBEDDINGS_MODEL=letters", "SPADE_EMBEDDINGS_DIM=16",
		"SPADE_EMBEDDINGS_KEY=" + canary(embeddingsKey),
		"SPADE_CHECKPOINTS=s3://states/here", "SPADE_S3_ENDPOINT=https://" + w.s3, "SPADE_S3_REGION=r", "SPADE_S3_ACCESS_KEY=AKIA",
		"SPADE_S3_SECRET_KEY=" + canary(s3Secret),
		"SPADE_POLICY_TOKEN=" + canary(policyToken),
	}
}

// records looks through every record of every topic: key, value and headers.
func (w *servers) records(t *testing.T, h *hunt) (n int) {
	t.Helper()
	var names []string
	for _, topic := range topics.All(1) {
		names = append(names, topic.Name)
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(w.kafka), kgo.SASL(scram.Auth{User: "spade", Pass: canary(kafkaPassword)}.AsSha256Mechanism()),
		kgo.ConsumeTopics(names...), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	all := w.written(t, names)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for n < all {
		fetches := client.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			t.Fatalf("%d records of %d: %v", n, all, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			n++
			h.search("log", r.Topic+" "+string(r.Key), r.Value)
			for _, header := range r.Headers {
				h.search("headers", r.Topic+" "+header.Key, header.Value)
			}
		})
	}
	return n
}

// written is how many records the topics hold; nobody writes any more.
func (w *servers) written(t *testing.T, names []string) (n int) {
	t.Helper()
	c, err := bus.New(bus.Config{
		Brokers: []string{w.kafka}, Mechanism: kafka.Mechanism, User: "spade", Password: secret.New(canary(kafkaPassword)),
	}, bus.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, name := range names {
		for _, end := range ends(t, c, name) {
			n += int(end)
		}
	}
	return n
}

// tables looks through every row of every table of the warehouse.
func (w *servers) tables(t *testing.T, h *hunt) {
	t.Helper()
	query := func(sql string) []byte {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+w.click.Addr(), strings.NewReader(sql))
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("spade", canary(clickPassword))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v: %s", sql, err, body)
		}
		return body
	}
	for table := range strings.FieldsSeq(string(query("SELECT name FROM system.tables WHERE database = 'spade' FORMAT TSV"))) {
		h.search("warehouse", table, query("SELECT * FROM spade.`"+table+"` FORMAT TSVRaw"))
	}
	http.DefaultClient.CloseIdleConnections()
}

// states looks through the object store.
func (w *servers) states(t *testing.T, h *hunt) {
	t.Helper()
	list, err := w.s3data.ListBucket("states", nil, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list.Contents {
		object, err := w.s3data.GetObject("states", o.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(object.Contents)
		if err != nil {
			t.Fatal(err)
		}
		h.search("object store", o.Key, content)
	}
}

func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
