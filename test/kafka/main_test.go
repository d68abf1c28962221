package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/schemas/access"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
	"github.com/seed256f7767/spade/test/kafka/broker"
	"github.com/seed256f7767/spade/test/kafka/pki"
)

// jars is the folder of Kafka's jars, which make test-kafka fetches.
var jars = os.Getenv("SPADE_TEST_KAFKA")

// three is the cluster that all tests share, with the files of its certificates.
var three struct {
	*broker.Cluster
	certs pki.Files
	ca    *pki.Authority
}

func TestMain(m *testing.M) {
	code, err := withCluster(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func withCluster(run func() int) (int, error) {
	if jars == "" {
		return run(), nil
	}
	dir, err := os.MkdirTemp("", "spade-kafka-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is a temporary folder
	if err := startCluster(dir); err != nil {
		return 0, err
	}
	code := run()
	if code != 0 {
		fmt.Fprintln(os.Stderr, three.Log())
	}
	return code, three.Kill()
}

func startCluster(dir string) (err error) {
	if three.ca, err = pki.New(); err != nil {
		return err
	}
	if three.certs, err = three.ca.Write(filepath.Join(dir, "certificates"), "127.0.0.1"); err != nil {
		return err
	}
	three.Cluster, err = broker.New(broker.Config{
		Jars: jars, Dir: dir, Nodes: 3, Users: users(),
		TLS: broker.TLS{KeyStore: three.certs.ServerStore, CA: three.certs.CA},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return three.Start(ctx)
}

const password = "a password of the tests"

// users are the superuser and one for each role.
func users() map[string]string {
	all := map[string]string{broker.Superuser: password}
	for _, r := range access.Roles() {
		all[r.Name] = password
	}
	return all
}

// cluster is the cluster with all its nodes up, now and when the test has ended.
func cluster(t *testing.T) *broker.Cluster {
	t.Helper()
	if jars == "" {
		t.Skip("SPADE_TEST_KAFKA names no folder of Kafka's jars: make test-kafka runs this")
	}
	t.Cleanup(func() {
		for _, n := range three.Nodes {
			if err := n.Resume(); err != nil {
				t.Error(err)
			}
		}
		restart(t, three.Nodes...)
	})
	return three.Cluster
}

// restart starts the nodes that do not run and waits until all have caught up.
func restart(t *testing.T, nodes ...*broker.Node) {
	t.Helper()
	for _, n := range nodes {
		if n.Running() {
			continue
		}
		if err := n.Start(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := three.Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

const partitions = 3

// config reaches the cluster with times that suit tests, under a prefix of the test's own.
func config(c *broker.Cluster) bus.Config {
	return bus.Config{
		Brokers: c.Addrs(broker.SASL), Mechanism: "SCRAM-SHA-512", User: broker.Superuser, Password: secret.New(password),
		Prefix: "t" + uuid.NewString()[:8] + ".", Replication: 3,
		SessionTimeout: 10 * time.Second, Heartbeat: 100 * time.Millisecond, FetchWait: 200 * time.Millisecond,
		IdleInterval: 10 * time.Millisecond, RequestTimeout: 2 * time.Second,
	}
}

func client(t *testing.T, cfg bus.Config) *bus.Client {
	t.Helper()
	c, err := bus.New(cfg, bus.Settings{
		Check:  func(event.Event) error { return nil },
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// setup is the cluster, a way to reach it, and a client that has made the topics.
func setup(t *testing.T) (*broker.Cluster, bus.Config, *bus.Client) {
	t.Helper()
	cl := cluster(t)
	cfg := config(cl)
	c := client(t, cfg)
	must(t, c.EnsureTopics(t.Context(), only()))
	return cl, cfg, c
}

// only is the topic that the tests write to, as the catalogue has it.
func only() []topics.Topic {
	return slices.DeleteFunc(topics.All(partitions), func(of topics.Topic) bool { return of.Name != topic })
}
