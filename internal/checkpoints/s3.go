package checkpoints

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/trust"
)

// S3 is how an object store is reached.
type S3 struct {
	// Endpoint is its http:// or https:// address. Empty: Amazon's, of the region.
	Endpoint string
	// Region of the bucket. Empty: the store is asked for it.
	Region string
	// AccessKey and SecretKey log in. Empty: the variables and files that other S3 programs use, then the machine's role.
	AccessKey string
	SecretKey secret.Text
	// RetryFor is how long a store that does not answer is asked again. Zero: 1 minute; negative: not at all.
	RetryFor time.Duration
}

const (
	defaultRetryFor = time.Minute
	firstPause      = 100 * time.Millisecond
	longestPause    = 5 * time.Second
	// partBytes is what one request of a large state carries. They are cut out of the state and sent one after the other:
	// an upload takes no room of its own.
	partBytes = 16 << 20
	// mostBytes is the largest state that is loaded: what a store claims to hold is not believed.
	mostBytes = 64 << 30
	// stalled is how long a connection may carry nothing in the middle of a request.
	stalled = 30 * time.Second
)

// Bucket is a store in a bucket of an object store.
type Bucket struct {
	client         *minio.Client
	transport      *http.Transport
	name, prefix   string
	addr, endpoint string // for messages
	retryFor       time.Duration
}

var _ Store = (*Bucket)(nil)

func newBucket(location string, s S3) (*Bucket, error) {
	name, prefix, _ := strings.Cut(strings.TrimPrefix(location, scheme), "/")
	if name == "" || strings.ContainsAny(name, "@?#:") || strings.ContainsAny(prefix, "?#") {
		return nil, fmt.Errorf("%w: want s3://BUCKET/PREFIX and nothing else", ErrLocation) // not quoted: it may hold a password
	}
	if (s.AccessKey == "") != s.SecretKey.IsZero() {
		return nil, fmt.Errorf("%w: set both s3.access_key and s3.secret_key, or neither", ErrLocation)
	}
	host, secure, err := s.host()
	if err != nil {
		return nil, err
	}
	certs, err := trust.Config("", "")
	if err != nil {
		return nil, err
	}
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLocation, err)
	}
	transport.TLSClientConfig = certs
	transport.DialContext = impatient(transport.DialContext, stalled)
	client, err := minio.New(host, &minio.Options{
		Creds: s.credentials(), Secure: secure, Region: s.Region, Transport: transport, MaxRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLocation, err)
	}
	b := &Bucket{
		client: client, transport: transport, name: name, prefix: strings.Trim(prefix, "/"), addr: host, endpoint: client.EndpointURL().String(), retryFor: s.RetryFor,
	}
	if b.retryFor == 0 {
		b.retryFor = defaultRetryFor
	}
	return b, nil
}

// host is where the store answers, and whether by TLS.
func (s S3) host() (host string, secure bool, err error) {
	if s.Endpoint == "" {
		if s.Region == "" {
			return "s3.amazonaws.com", true, nil
		}
		return "s3." + s.Region + ".amazonaws.com", true, nil
	}
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") || strings.Trim(u.Path, "/") != "" {
		return "", false, fmt.Errorf("%w: s3.endpoint is not http://HOST or https://HOST", ErrLocation)
	}
	return u.Host, u.Scheme == "https", nil
}

func (s S3) credentials() *credentials.Credentials {
	if s.AccessKey != "" {
		return credentials.NewStaticV4(s.AccessKey, s.SecretKey.Reveal(), "")
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
	})
}

func (b *Bucket) key(sum []byte) string { return path.Join(b.prefix, hex.EncodeToString(sum)) }

func (b *Bucket) uri(sum []byte) string { return scheme + b.name + "/" + b.key(sum) }

// Save implements Store.
func (b *Bucket) Save(ctx context.Context, sum [sha256.Size]byte, state []byte) (uri string, err error) {
	uri = b.uri(sum[:])
	err = b.retry(ctx, func(ctx context.Context) error {
		if err := b.holds(ctx, sum, int64(len(state))); err == nil || final(err) && !again(err) {
			return err
		}
		_, err := b.client.PutObject(ctx, b.name, b.key(sum[:]), bytes.NewReader(state), int64(len(state)), minio.PutObjectOptions{
			ContentType: "application/octet-stream", PartSize: partBytes, NumThreads: 1,
		})
		return err
	})
	if err != nil {
		return "", fmt.Errorf("save checkpoint %s: %w", uri, err)
	}
	return uri, nil
}

// again reports a state that Save writes: there is none, or it is damaged.
func again(err error) bool {
	return errors.Is(err, ErrMissing) || errors.Is(err, ErrCorrupt) || minio.ToErrorResponse(err).Code == minio.NoSuchKey
}

// holds reads a state that is there already, and keeps nothing of it: nil says that it is whole.
func (b *Bucket) holds(ctx context.Context, sum [sha256.Size]byte, size int64) error {
	info, err := b.client.StatObject(ctx, b.name, b.key(sum[:]), minio.StatObjectOptions{})
	if err != nil {
		return err
	}
	if info.Size != size {
		return ErrCorrupt
	}
	o, err := b.client.GetObject(ctx, b.name, b.key(sum[:]), minio.GetObjectOptions{})
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(h, o)
	if err := errors.Join(err, o.Close()); err != nil {
		return err
	}
	if !bytes.Equal(h.Sum(nil), sum[:]) {
		return ErrCorrupt
	}
	return nil
}

// Load implements Store. The state is read into its place and nowhere else.
func (b *Bucket) Load(ctx context.Context, sum []byte, size int64) (state []byte, err error) {
	err = b.retry(ctx, func(ctx context.Context) error {
		state, err = b.load(ctx, sum, size)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load checkpoint %s: %w", b.uri(sum), err)
	}
	return state, nil
}

func (b *Bucket) load(ctx context.Context, sum []byte, size int64) ([]byte, error) {
	info, err := b.client.StatObject(ctx, b.name, b.key(sum), minio.StatObjectOptions{})
	if err != nil {
		return nil, err
	}
	if info.Size != size || size > mostBytes {
		return nil, fmt.Errorf("%w: %d bytes, not %d", ErrCorrupt, info.Size, size)
	}
	o, err := b.client.GetObject(ctx, b.name, b.key(sum), minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	state := make([]byte, info.Size)
	_, err = io.ReadFull(o, state)
	if err := errors.Join(err, o.Close()); err != nil {
		return nil, err
	}
	if got := sha256.Sum256(state); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("%w: its content has the SHA-256 %x", ErrCorrupt, got)
	}
	return state, nil
}

// retry runs a request again while the store does not answer.
func (b *Bucket) retry(ctx context.Context, fn func(context.Context) error) error {
	giveUp := time.Now().Add(b.retryFor)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := fn(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if final(err) || time.Now().Add(pause).After(giveUp) {
			return b.classify(err)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause/2)): //nolint:gosec // jitter of a back-off, not of a run
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// names are the settings that errors of TLS speak of.
func names() trust.Names {
	return trust.Names{Plain: "write http:// in s3.endpoint when the way to it is safe", TLS: "write https:// in s3.endpoint"}
}

// final reports what the store answers next time as well.
func final(err error) bool {
	if errors.Is(err, ErrMissing) || errors.Is(err, ErrCorrupt) || trust.Explain("", names(), err) != nil {
		return true
	}
	status := minio.ToErrorResponse(err).StatusCode
	return status >= 300 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
}

// classify puts a failed request into one of the package's classes, and says what to do.
func (b *Bucket) classify(err error) error {
	if explained := trust.Explain(b.addr, names(), err); explained != nil {
		return explained
	}
	answer := minio.ToErrorResponse(err)
	switch {
	case errors.Is(err, ErrMissing), errors.Is(err, ErrCorrupt):
		return err
	case answer.Code == minio.NoSuchBucket:
		return fmt.Errorf("%w: %s has no bucket %s: create it, or name another one in checkpoints", ErrLocation, b.endpoint, b.name)
	case answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w in %s", ErrMissing, b.endpoint)
	case answer.StatusCode == http.StatusForbidden, answer.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s (%s): check s3.access_key and s3.secret_key, and that they may read and write s3://%s/%s",
			ErrDenied, b.endpoint, answer.Code, b.name, path.Join(b.prefix, "*"))
	case answer.StatusCode >= 300 && answer.StatusCode < 500:
		return fmt.Errorf("%w: %s answers %s: check s3.endpoint and s3.region: %w", ErrLocation, b.endpoint, answer.Code, err)
	}
	return fmt.Errorf("%w: check s3.endpoint (%s): %w", ErrUnavailable, b.endpoint, err)
}
