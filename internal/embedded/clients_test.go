package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/embedded"
	"github.com/seed256f7767/spade/schemas/topics"
)

// clientMain is a client of its own process: it joins a group, says so, and
// waits to be killed.
func clientMain(args []string) error {
	ctx := context.Background()
	l, err := embedded.Connect(ctx, embedded.Config{Dir: args[0], Linger: linger}, light)
	if err != nil {
		return err
	}
	e, err := l.Wait(ctx)
	if err != nil {
		return err
	}
	c, err := bus.New(patient(e.Kafka), bus.Settings{Check: anything})
	if err != nil {
		return err
	}
	if err := c.EnsureTopics(ctx, topics.All(2)); err != nil {
		return err
	}
	h := bus.HandlerFunc(func(context.Context, *bus.Claim) (bus.Processor, error) {
		fmt.Printf("pid %d supervisor %d\n", os.Getpid(), l.SupervisorPID())
		return nopProcessor{}, nil
	})
	return c.Consume(ctx, "g", []string{topics.Runs}, nil, h)
}

// session is how long the broker of these tests waits for a group's member that
// says nothing: far longer than a slow machine takes for what they measure.
const session = time.Minute

// patient is a configuration whose members are given up after a session only,
// also in a rebalance.
func patient(c bus.Config) bus.Config {
	c.SessionTimeout, c.RequestTimeout = session, session
	return c
}

type nopProcessor struct{}

func (nopProcessor) Process(context.Context, bus.Batch) error { return nil }
func (nopProcessor) Idle(context.Context) error               { return nil }
func (nopProcessor) Revoked(context.Context) error            { return nil }
func (nopProcessor) Lost()                                    {}

// startClient runs clientMain in another process until it has its partition.
func startClient(t *testing.T, cfg embedded.Config) (cmd *exec.Cmd, supervisorPID int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), exe, clientCommand, cfg.Dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscanf(line, "pid %d supervisor %d", &pid, &supervisorPID); err != nil {
		t.Fatalf("the client said %q", line)
	}
	return cmd, supervisorPID
}

func endClient(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	kill(t, cmd.Process.Pid)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Fatal(err)
	}
}

func TestAKilledClientFreesItsLease(t *testing.T) {
	cfg := config(t)
	cmd, supervisorPID := startClient(t, cfg)
	endClient(t, cmd)
	waitGone(t, supervisorPID)
}

// The killed client's partitions must not wait for its session to time out.
func TestAKilledClientFreesItsPartitionsAtOnce(t *testing.T) {
	cfg := config(t)
	l := connect(t, cfg)
	e := waitReady(t, l)
	e.Kafka = patient(e.Kafka)
	c := client(t, e)
	cmd, _ := startClient(t, cfg)
	endClient(t, cmd)
	got := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- c.Consume(ctx, "g", []string{topics.Runs}, nil, bus.HandlerFunc(func(context.Context, *bus.Claim) (bus.Processor, error) {
			got <- struct{}{}
			return nopProcessor{}, nil
		}))
	}()
	select {
	case <-got:
	case <-time.After(session / 2):
		t.Errorf("the partition is not free after %s", session/2)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
