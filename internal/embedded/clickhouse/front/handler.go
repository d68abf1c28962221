package front

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/engine"
)

// Handler is an http.Handler.
type Handler struct {
	cfg     Config
	version string
	slots   chan struct{} // one per running statement

	mu      sync.Mutex          // guards the following
	running map[string]struct{} // query ids
}

var _ http.Handler = (*Handler)(nil)

// New makes a handler and asks the engine for its version.
func New(cfg Config) (*Handler, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("front: %w", err)
	}
	h := &Handler{cfg: cfg, slots: make(chan struct{}, cfg.Parallel), running: map[string]struct{}{}}
	conn, err := cfg.Engine.Connect("", nil)
	if err != nil {
		return nil, fmt.Errorf("front: %w", err)
	}
	defer conn.Close()
	out, _, err := conn.Exec("SELECT version()", "TSVRaw")
	if err != nil {
		return nil, fmt.Errorf("front: ask for the version: %w", err)
	}
	h.version = strings.TrimSpace(string(out))
	return h, nil
}

// Version is the engine's ClickHouse version, such as "26.7.2.1".
func (h *Handler) Version() string { return h.version }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := checkPeer(r); err != nil {
		writeError(w, http.StatusForbidden, err)
		return
	}
	switch {
	case r.URL.Path == "/ping" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		_, _ = io.WriteString(w, "Ok.\n")
		return
	case r.URL.Path != "/" && r.URL.Path != "/health":
		writeError(w, http.StatusNotFound, &engine.Error{Code: codeNoSuchPath, Message: "there is only / for queries, /ping and /health"})
		return
	}
	user, err := h.authenticate(r)
	if err != nil {
		w.Header().Set("WWW-Authenticate", `Basic realm="ClickHouse"`)
		writeError(w, http.StatusUnauthorized, err)
		return
	}
	if r.URL.Path == "/health" {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(h.cfg.Health)
		return
	}
	h.serve(w, r, user)
}

// serve answers one statement.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, user User) {
	req, err := h.parse(r, user)
	if err != nil {
		writeError(w, http.StatusInternalServerError, err)
		return
	}
	if req.nothing() {
		_, _ = io.WriteString(w, "Ok.\n")
		return
	}
	a := h.newAnswer(w, req)
	defer a.close()
	a.finish(h.run(r.Context(), req, a))
}

// run takes a slot and runs the statement.
func (h *Handler) run(ctx context.Context, req *request, a *answer) (engine.Stats, error) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return engine.Stats{}, context.Cause(ctx)
	}
	if !h.begin(req.id) {
		return engine.Stats{}, &engine.Error{Code: codeSameID, Message: "a query with the id " + req.id + " is already running"}
	}
	defer h.end(req.id)
	return h.dispatch(ctx, req, a)
}

func (h *Handler) begin(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, there := h.running[id]; there {
		return false
	}
	h.running[id] = struct{}{}
	return true
}

func (h *Handler) end(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.running, id)
}
