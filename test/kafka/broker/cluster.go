package broker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Cluster is brokers that know each other. Its methods and those of its nodes are for one goroutine, but for Shutdown.
type Cluster struct {
	Nodes []*Node
	cfg   Config
	id    string
}

// New chooses addresses and writes what the nodes need. Start runs them.
func New(cfg Config) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	jars, err := filepath.Abs(cfg.Jars) // the nodes run in folders of their own
	if err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, id: uuid.NewString()}
	order, _ := cfg.listeners()
	for i := range max(1, cfg.Nodes) {
		n := &Node{ID: i + 1, jars: jars, dir: filepath.Join(cfg.Dir, fmt.Sprint("node", i+1)), addrs: map[Listener]string{}}
		for _, l := range order {
			addr, err := freeAddr()
			if err != nil {
				return nil, err
			}
			n.addrs[l] = addr
		}
		c.Nodes = append(c.Nodes, n)
	}
	for _, n := range c.Nodes {
		if err := os.MkdirAll(n.dir, 0o700); err != nil {
			return nil, err
		}
		if err := n.writeProperties(c.properties(n)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// freeAddr is a loopback address that nobody listens on, outside the range that the system takes ports for clients from.
func freeAddr() (string, error) {
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 15000+rand.IntN(17000))
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		return addr, ln.Close()
	}
	return "", errors.New("no free port was found")
}

// Start formats the nodes' folders, runs them and waits until all are there.
func (c *Cluster) Start(ctx context.Context) error {
	if err := c.Nodes[0].format(ctx, c.id, c.scram()); err != nil {
		return err
	}
	for _, n := range c.Nodes[1:] {
		if err := n.formatAs(c.Nodes[0]); err != nil {
			return err
		}
	}
	if err := c.all((*Node).Start); err != nil {
		return errors.Join(err, c.Shutdown(ctx))
	}
	if err := c.Wait(ctx); err != nil {
		return errors.Join(err, c.Shutdown(context.WithoutCancel(ctx)))
	}
	return nil
}

func (c *Cluster) all(fn func(*Node) error) error {
	errs := make([]error, len(c.Nodes))
	var wg sync.WaitGroup
	for i, n := range c.Nodes {
		wg.Go(func() { errs[i] = fn(n) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// scram are the SCRAM users that formatting writes.
func (c *Cluster) scram() []string {
	var args []string
	for _, name := range slices.Sorted(maps.Keys(c.cfg.Users)) {
		for _, m := range []string{"SCRAM-SHA-256", "SCRAM-SHA-512"} {
			args = append(args, "--add-scram", fmt.Sprintf("%s=[name=%s,password=%s]", m, name, c.cfg.Users[name]))
		}
	}
	return args
}

// Wait waits until every node that was started answers and no partition lacks a replica that should be in sync.
func (c *Cluster) Wait(ctx context.Context) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Addrs(Plain)...), kgo.RetryTimeout(2*time.Second))
	if err != nil {
		return err
	}
	defer cl.Close()
	why := ""
	for {
		if why = c.missing(ctx, cl); why == "" {
			return nil
		}
		for _, n := range c.Nodes {
			if err := n.ended(); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the cluster: %s: %w", why, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// missing says what is not there yet.
func (c *Cluster) missing(ctx context.Context, cl *kgo.Client) string {
	running := 0
	for _, n := range c.Nodes {
		if n.Running() {
			running++
		}
		for _, addr := range n.addrs {
			conn, err := net.DialTimeout("tcp", addr, time.Second)
			if n.Running() && err != nil {
				return fmt.Sprintf("node %d: %v", n.ID, err)
			}
			if err == nil {
				_ = conn.Close() // it was opened to see that it can be
			}
		}
	}
	req := kmsg.NewPtrMetadataRequest()
	res, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err.Error()
	}
	if len(res.Brokers) < running {
		return fmt.Sprintf("%d of %d brokers have registered", len(res.Brokers), running)
	}
	for _, t := range res.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 || len(p.ISR) < min(running, len(p.Replicas)) {
				return fmt.Sprintf("partition %d of a topic has %d of %d replicas in sync", p.Partition, len(p.ISR), len(p.Replicas))
			}
		}
	}
	return ""
}

// Addrs are the nodes' addresses of one listener.
func (c *Cluster) Addrs(l Listener) []string {
	var out []string
	for _, n := range c.Nodes {
		out = append(out, n.addrs[l])
	}
	return out
}

// Node is the node with an address of any listener, nil when there is none.
func (c *Cluster) Node(addr string) *Node {
	for _, n := range c.Nodes {
		for _, a := range n.addrs {
			if a == addr {
				return n
			}
		}
	}
	return nil
}

// Shutdown stops every node and waits for its process. It may be called twice.
func (c *Cluster) Shutdown(ctx context.Context) error {
	return c.all(func(n *Node) error { return n.Stop(ctx) })
}

// Kill ends every node at once.
func (c *Cluster) Kill() error { return c.all((*Node).Kill) }

// Log is the last lines that the nodes wrote.
func (c *Cluster) Log() string {
	var b strings.Builder
	for _, n := range c.Nodes {
		fmt.Fprintf(&b, "node %d:\n%s\n", n.ID, n.tail())
	}
	return b.String()
}
