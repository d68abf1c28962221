package embedding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed256f7767/spade/internal/secret"
)

// EndpointConfig is an OpenAI-compatible embeddings endpoint.
type EndpointConfig struct {
	// URL is the endpoint, such as http://host:8000/v1/embeddings; a URL that
	// ends in /v1 gets /embeddings appended.
	URL string
	// Key is sent as a bearer token; empty sends none.
	Key secret.Text
	// Model is the model's name at the endpoint, Dim the length of its vectors.
	Model string
	Dim   int
	// Batch is the number of texts in one request; zero means 64.
	Batch int
	// Timeout bounds one request; zero means 60 s.
	Timeout time.Duration
	// Tries is how often a request is sent at most; zero means 6.
	Tries int
}

const (
	defaultBatch   = 64
	defaultTimeout = time.Minute
	defaultTries   = 6
	// maxAnswer bounds an answer: 64 vectors of 65 536 take about 50 MB as JSON.
	maxAnswer = 128 << 20
	// maxMessage is what is kept of an error answer.
	maxMessage = 300
)

// Errors of an endpoint, for errors.Is.
var (
	// ErrEndpointUnavailable: it did not answer, or answered that it is busy,
	// at every try.
	ErrEndpointUnavailable = errors.New("embeddings endpoint is not available")
	// ErrEndpointRefused: it will never answer this request.
	ErrEndpointRefused = errors.New("embeddings endpoint refuses the request")
	// ErrTextRefused: it refuses what it was given, not who asks or how: one of
	// the texts is too long for it, say. It takes other texts. It is an
	// ErrEndpointRefused as well.
	ErrTextRefused = fmt.Errorf("%w: text refused", ErrEndpointRefused)
	// ErrEndpointAnswer: its answer is not what was asked for.
	ErrEndpointAnswer = errors.New("embeddings endpoint answered wrongly")
)

// Endpoint is an Embedder that asks an endpoint. What it answers is not a
// function of the run's seed, so its vectors are kept as events.
type Endpoint struct {
	cfg    EndpointConfig
	client *http.Client
	first  time.Duration // the first pause between tries
}

var _ Embedder = (*Endpoint)(nil)

// NewEndpoint checks the config; it does not connect.
func NewEndpoint(cfg EndpointConfig) (*Endpoint, error) {
	var all []error
	u, err := url.Parse(cfg.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		all = append(all, errors.New("embeddings endpoint: want an http or https URL")) // not quoted: it may hold a password
	}
	if cfg.Model == "" {
		all = append(all, errors.New("embeddings endpoint: no model given"))
	}
	if cfg.Dim < 1 {
		all = append(all, fmt.Errorf("embeddings endpoint: %d dimensions", cfg.Dim))
	}
	if err := errors.Join(all...); err != nil {
		return nil, err
	}
	if strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1") {
		u.Path = strings.TrimRight(u.Path, "/") + "/embeddings"
	}
	cfg.URL = u.String()
	if cfg.Batch == 0 {
		cfg.Batch = defaultBatch
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Tries == 0 {
		cfg.Tries = defaultTries
	}
	client, err := newClient(u)
	if err != nil {
		return nil, fmt.Errorf("embeddings endpoint: %w", err)
	}
	return &Endpoint{cfg: cfg, client: client, first: 250 * time.Millisecond}, nil
}

// Model implements Embedder.
func (e *Endpoint) Model() string { return e.cfg.Model }

// Dim implements Embedder.
func (e *Endpoint) Dim() int { return e.cfg.Dim }

// Embed implements Embedder. A model of meaning needs no telling of prose from
// code, so kind is only checked.
func (e *Endpoint) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	if kind != Document && kind != Code && kind != CodeQuery {
		return nil, &UnknownKindError{Kind: kind}
	}
	var out [][]float32
	for batch := range slices.Chunk(texts, e.cfg.Batch) {
		vectors, err := e.batch(ctx, batch)
		if errors.Is(err, ErrTextRefused) {
			vectors, err = e.again(ctx, batch, err)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	return out, nil
}

// knownText is what every endpoint of embeddings takes.
const knownText = "a"

// again tells a text that is refused from an endpoint that refuses everything, because its model has another name, say: only
// where it takes a known text, and then refuses these once more, the texts are at fault.
func (e *Endpoint) again(ctx context.Context, texts []string, refused error) ([][]float32, error) {
	if _, err := e.batch(ctx, []string{knownText}); errors.Is(err, ErrTextRefused) {
		status := strings.TrimPrefix(refused.Error(), ErrTextRefused.Error()+": ") // not the class: no text is at fault
		return nil, fmt.Errorf("%w: it takes no text, not even %q: %s", ErrEndpointRefused, knownText, status)
	} else if err != nil {
		return nil, err
	}
	return e.batch(ctx, texts)
}

func (e *Endpoint) batch(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": e.cfg.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, fmt.Errorf("embeddings request: %w", err)
	}
	pause := e.first
	for try := 1; ; try++ {
		vectors, wait, err := e.post(ctx, body, len(texts))
		if err == nil || !errors.Is(err, ErrEndpointUnavailable) || try == e.cfg.Tries {
			return vectors, err
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("embeddings request: %w", ctx.Err())
		}
		select {
		case <-time.After(max(wait, pause/2+rand.N(pause/2+1))): //nolint:gosec // jitter of a back-off, not of a run
		case <-ctx.Done():
			return nil, fmt.Errorf("embeddings request: %w", errors.Join(ctx.Err(), err))
		}
		pause = min(2*pause, 10*time.Second)
	}
}

// post sends one request. wait is how long the endpoint asks to be left alone.
func (e *Endpoint) post(ctx context.Context, body []byte, n int) (vectors [][]float32, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return nil, 0, errors.New("embeddings request: bad URL")
	}
	req.Header.Set("Content-Type", "application/json")
	if !e.cfg.Key.IsZero() {
		req.Header.Set("Authorization", "Bearer "+e.cfg.Key.Reveal())
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, 0, noAnswer(e.cfg.URL, err)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, 0, fmt.Errorf("%w: read answer: %w", ErrEndpointUnavailable, err)
	}
	if resp.StatusCode == http.StatusOK {
		vectors, err := e.decode(data, n)
		return vectors, 0, err
	}
	class := ErrEndpointRefused
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusRequestTimeout || resp.StatusCode >= 500 {
		class = ErrEndpointUnavailable
	}
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		class = ErrTextRefused
	}
	return nil, retryAfter(resp.Header), fmt.Errorf("%w: status %d: %s", class, resp.StatusCode, e.message(data))
}

// withoutURL drops the URL that net/http puts into its errors: it may carry a
// user name and password.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// message is what an error answer says, cut short and without the key, which
// some servers repeat.
func (e *Endpoint) message(data []byte) string {
	var body struct {
		Error struct{ Message string }
	}
	text := string(data)
	if json.Unmarshal(data, &body) == nil && body.Error.Message != "" {
		text = body.Error.Message
	}
	if key := e.cfg.Key.Reveal(); key != "" {
		text = strings.ReplaceAll(text, key, secret.Mask)
	}
	if len(text) > maxMessage {
		text = text[:maxMessage]
	}
	return strconv.Quote(strings.ToValidUTF8(text, "\uFFFD"))
}

func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, time.Minute)
}

func (e *Endpoint) decode(data []byte, n int) ([][]float32, error) {
	var body struct {
		Data []struct {
			Index     int
			Embedding []float64
		}
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEndpointAnswer, err)
	}
	if len(body.Data) != n {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", ErrEndpointAnswer, len(body.Data), n)
	}
	out := make([][]float32, n)
	for _, d := range body.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, fmt.Errorf("%w: index %d is out of range or there twice", ErrEndpointAnswer, d.Index)
		}
		if len(d.Embedding) != e.cfg.Dim {
			return nil, fmt.Errorf("%w: a vector of %d where %d are configured", ErrEndpointAnswer, len(d.Embedding), e.cfg.Dim)
		}
		v, err := unit(d.Embedding)
		if err != nil {
			return nil, err
		}
		out[d.Index] = v
	}
	return out, nil
}

func unit(v []float64) ([]float32, error) {
	var sum float64
	for _, x := range v {
		sum += float64(x * x)
	}
	if sum == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
		return nil, fmt.Errorf("%w: a vector has length %v", ErrEndpointAnswer, math.Sqrt(sum))
	}
	norm := math.Sqrt(sum)
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / norm)
	}
	return out, nil
}
