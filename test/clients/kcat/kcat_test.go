package kcat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// kcat runs the client against a broker.
func kcat(t *testing.T, cfg bus.Config, args ...string) (string, error) {
	t.Helper()
	base := []string{
		"-b", strings.Join(cfg.Brokers, ","), "-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanisms=" + cfg.Mechanism,
		"-X", "sasl.username=" + cfg.User, "-X", "sasl.password=" + cfg.Password.Reveal(),
	}
	cmd := exec.CommandContext(t.Context(), "kcat", append(base, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, stderr.String())
	}
	return stdout.String(), nil
}

// start gives a broker with the catalogue's topics, or skips where the clients are not to be run.
func start(t *testing.T) (*bustest.Broker, *bus.Client) {
	t.Helper()
	if os.Getenv("SPADE_TEST_CLIENTS") == "" {
		t.Skip("SPADE_TEST_CLIENTS is not set; make test-clients sets it")
	}
	broker := bustest.Start(t)
	client := broker.Client(t)
	if err := client.EnsureTopics(t.Context(), topics.All(2)); err != nil {
		t.Fatal(err)
	}
	return broker, client
}

func started(t *testing.T, name string) event.Event {
	t.Helper()
	run := ids.Run(name)
	msg := &spadepb.RunStarted{RunId: run[:], Name: name, Seed: 7}
	ev, err := event.New(topics.RunKey(run), run, 0, msg, &spadepb.Observed{Producer: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func TestHeadersAreCloudEvents(t *testing.T) {
	broker, client := start(t)
	first, second := started(t, "one"), started(t, "two 文字")
	if err := client.Append(t.Context(), first, second); err != nil {
		t.Fatal(err)
	}
	out, err := kcat(t, broker.Config(), "-C", "-e", "-q", "-J", "-t", topics.Runs, "-o", "beginning")
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(out))
	for i, want := range []event.Event{first, second} {
		var got struct {
			Offset  int64    `json:"offset"`
			Key     string   `json:"key"`
			Headers []string `json:"headers"`
		}
		if err := dec.Decode(&got); err != nil {
			t.Fatalf("record %d of %s: %v", i, out, err)
		}
		if got.Offset != int64(i) || got.Key != want.Key {
			t.Errorf("record %d: offset %d, key %s", i, got.Offset, got.Key)
		}
		checkHeaders(t, got.Headers, want)
	}
}

func checkHeaders(t *testing.T, list []string, want event.Event) {
	t.Helper()
	headers := map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		headers[list[i]] = list[i+1]
	}
	for name, value := range map[string]string{
		"ce_id": want.ID.String(), "ce_type": "spade.v1.RunStarted", "ce_source": "/spade", "ce_specversion": "1.0",
		"content-type": "application/protobuf",
	} {
		if headers[name] != value {
			t.Errorf("header %s is %q, want %q", name, headers[name], value)
		}
	}
	if headers["ce_time"] == "" || headers["spade-observed"] == "" {
		t.Errorf("headers %v lack the time or what was observed", headers)
	}
}

func TestPayloadsAreTheBytesThatWereAppended(t *testing.T) {
	broker, client := start(t)
	ev := started(t, "payload")
	if err := client.Append(t.Context(), ev); err != nil {
		t.Fatal(err)
	}
	out, err := kcat(t, broker.Config(), "-C", "-e", "-q", "-t", topics.Runs, "-o", "0", "-c", "1", "-f", "%s")
	if err != nil {
		t.Fatal(err)
	}
	var msg spadepb.RunStarted
	if err := proto.Unmarshal([]byte(out), &msg); err != nil || msg.GetName() != "payload" || out != string(ev.Payload) {
		t.Errorf("name %q, %d bytes of %d, %v", msg.GetName(), len(out), len(ev.Payload), err)
	}
}

func TestTopicsAreListed(t *testing.T) {
	broker, _ := start(t)
	out, err := kcat(t, broker.Config(), "-L", "-J")
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range topics.All(2) {
		if !strings.Contains(out, `"topic":"`+topic.Name+`"`) {
			t.Errorf("%s is not listed in %s", topic.Name, out)
		}
	}
}

// TestAForeignRecordDoesNotStopReaders: kcat writes a record that is no event between two that are.
func TestAForeignRecordDoesNotStopReaders(t *testing.T) {
	broker, client := start(t)
	if err := client.Append(t.Context(), started(t, "before")); err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/record"
	if err := os.WriteFile(file, []byte("no event\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := kcat(t, broker.Config(), "-P", "-t", topics.Runs, "-k", "stranger", file); err != nil {
		t.Fatal(err)
	}
	if err := client.Append(t.Context(), started(t, "after")); err != nil {
		t.Fatal(err)
	}
	var read []string
	err := client.Read(t.Context(), topics.Runs, nil, nil, func(ev event.Event) error {
		read = append(read, ev.Key)
		return nil
	})
	want := topics.RunKey(ids.Run("before")) + "," + topics.RunKey(ids.Run("after"))
	if err != nil || strings.Join(read, ",") != want {
		t.Errorf("read %v, %v", read, err)
	}
}

func TestAWrongPasswordIsRefused(t *testing.T) {
	broker, _ := start(t)
	cfg := broker.Config()
	cfg.User = "stranger"
	if out, err := kcat(t, cfg, "-L", "-m", "3"); err == nil {
		t.Errorf("let in:\n%s", out)
	}
}
