package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/semaphore"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/schemas/event"
)

// Client talks to one cluster. Its methods may be called concurrently. Close
// it to end its connections and goroutines.
type Client struct {
	cfg   Config
	set   Settings
	log   *slog.Logger
	codec kafka.Compression
	login *logins // nil without SASL
	stats counters

	dial      *dialer
	groups    *kafka.Dialer // opens the connections of consumer groups
	kafka     *kafka.Client
	transport *kafka.Transport
	room      *semaphore.Weighted // bytes that may be in flight
	nextReset atomic.Int64        // unix nanoseconds before which the layout is not read again

	metadataVersion atomic.Int32 // the newest that the brokers speak, once they were asked

	ctx    context.Context //nolint:containedctx // ends the lanes, which outlive the call that started them
	cancel context.CancelFunc
	wg     sync.WaitGroup // lanes

	mu     sync.Mutex // guards the following
	closed bool
	known  map[string]topicInfo
	lanes  map[lanePos]*lane

	standings map[*standing]struct{} // what is consumed, see Groups
	tap       atomic.Pointer[func([]event.Event)]
}

// New checks the configuration and loads certificates. It does not connect.
func New(cfg Config, set Settings) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	codec, err := cfg.compression()
	if err != nil {
		return nil, err
	}
	mech, err := cfg.mechanism()
	if err != nil {
		return nil, err
	}
	certs, err := cfg.TLS.Load()
	if err != nil {
		return nil, err
	}
	c := &Client{
		cfg: cfg, set: set, log: set.Logger, codec: codec,
		dial:  newDialer(cfg.RequestTimeout, cfg.Brokers),
		room:  semaphore.NewWeighted(cfg.InFlightBytes),
		known: map[string]topicInfo{},
		lanes: map[lanePos]*lane{},
		stats: counters{appendTime: observe.NewHistogram(observe.Fast)},
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if mech != nil {
		c.login = &logins{Mechanism: mech}
		mech = c.login
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.transport = &kafka.Transport{
		Context: c.ctx, // a request that comes late must not begin connections that nobody ends
		Dial:    c.dial.DialContext, DialTimeout: cfg.RequestTimeout, ClientID: cfg.ClientID,
		MetadataTTL: 5 * time.Second, TLS: certs, SASL: mech,
	}
	c.kafka = &kafka.Client{Addr: kafka.TCP(cfg.Brokers...), Transport: c.transport}
	c.groups = &kafka.Dialer{
		ClientID: cfg.ClientID, Timeout: cfg.RequestTimeout, DialFunc: c.dial.DialContext, TLS: certs, SASLMechanism: mech,
	}
	if c.set.Check == nil {
		c.set.Check = event.Check
	}
	return c, nil
}

// Ready waits until a broker answers and accepts the login. It returns at once
// when the login is refused.
func (c *Client) Ready(ctx context.Context) error {
	return c.retry(ctx, "connect to "+fmt.Sprint(c.cfg.Brokers), func(ctx context.Context) error {
		_, err := c.kafka.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{}})
		if err != nil {
			c.resetLayout()
		}
		return err
	})
}

// Close fails what is in flight with ErrClosed, ends every connection and waits
// for the client's goroutines. It may be called twice.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.transport.CloseIdleConnections()
	c.dial.closeAll()
	c.wg.Wait()
	c.transport.CloseIdleConnections()
	c.dial.closeAll()
	return nil
}

// OnAppend has fn called, in the caller's goroutine, with the events of every Append that was acknowledged. It must not block.
func (c *Client) OnAppend(fn func([]event.Event)) { c.tap.Store(&fn) }

// retry calls fn, each time with the request timeout, until it succeeds, fails
// for good, or ctx ends.
func (c *Client) retry(ctx context.Context, op string, fn func(context.Context) error) error {
	var last error
	probed := false
	tries := c.login.attempts()
	for wait := newBackoff(); ; {
		err := c.once(ctx, fn)
		switch {
		case err == nil:
			return nil
		case c.ctx.Err() != nil:
			return fmt.Errorf("%s: %w", op, ErrClosed)
		case ctx.Err() != nil && last == nil:
			return fmt.Errorf("%w: %w", c.hint(classify(op, err)), ctx.Err())
		case ctx.Err() != nil:
			return fmt.Errorf("%w: %w", c.hint(last), ctx.Err())
		}
		if e := c.untrusted(err); e != nil {
			return fmt.Errorf("%s: %w", op, e)
		}
		if !probed {
			probed = true
			if e := c.misfit(ctx, err); e != nil {
				return fmt.Errorf("%s: %w", op, e)
			}
		}
		last = tries.class(op, err)
		if tries.final() || (!isLogin(last) && !transient(err)) {
			return last
		}
		if staleLayout(err) || network(err) {
			c.resetLayout()
		}
		c.stats.retries.Add(1)
		wait.sleep(ctx, c.ctx)
	}
}

// hint adds what may be the matter with a broker that ends every connection.
func (c *Client) hint(err error) error {
	if c.login == nil && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return fmt.Errorf("%w (does the cluster want a login? set kafka.user and kafka.sasl)", err)
	}
	return err
}

func (c *Client) once(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.RequestTimeout)
	defer cancel()
	return fn(ctx)
}

// resetLayout makes kafka-go forget its picture of the cluster, which it would
// otherwise keep, also when wrong, until its time to live ends. At most every
// 50 ms.
func (c *Client) resetLayout() {
	now := time.Now().UnixNano()
	next := c.nextReset.Load()
	if now < next || !c.nextReset.CompareAndSwap(next, now+int64(50*time.Millisecond)) {
		return
	}
	c.transport.CloseIdleConnections()
}

// backoff doubles from 10 ms to 1 s, with jitter.
type backoff struct{ next time.Duration }

func newBackoff() *backoff { return &backoff{next: 10 * time.Millisecond} }

// sleep waits, or returns early when one of the contexts ends.
func (b *backoff) sleep(ctx, other context.Context) {
	wait := b.next/2 + rand.N(b.next/2)
	b.next = min(2*b.next, time.Second)
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-other.Done():
	}
}
