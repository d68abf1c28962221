package olap_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/olap"
)

// sockets counts the connections to a server.
type sockets struct {
	mu   sync.Mutex
	open map[net.Conn]struct{}
	most int
}

// watch serves handler and counts the connections to it.
func watch(t *testing.T, handler http.HandlerFunc) (*sockets, string) {
	t.Helper()
	s := &sockets{open: map[net.Conn]struct{}{}}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = s.changed
	server.Start()
	t.Cleanup(server.Close)
	return s, server.URL
}

func (s *sockets) changed(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateClosed {
		delete(s.open, c)
		return
	}
	s.open[c] = struct{}{}
	s.most = max(s.most, len(s.open))
}

func (s *sockets) count() (open, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open), s.most
}

// none waits for the last connection to be closed.
func (s *sockets) none(t *testing.T) {
	t.Helper()
	for range 500 {
		if open, _ := s.count(); open == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	open, _ := s.count()
	t.Errorf("%d connections are left open", open)
}

// A server that refuses the greeting is asked again and again: its connections must not pile up, nor stay.
func TestRefusedGreetingsKeepNoConnections(t *testing.T) {
	s, url := watch(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Exception-Code", "202")
		http.Error(w, "Code: 202. DB::Exception: Too many simultaneous queries", http.StatusInternalServerError)
	})
	conn, err := olap.Open(olap.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := conn.Ping(t.Context()); err == nil {
			t.Fatal("the greeting was refused, and the ping succeeded")
		}
	}
	if _, most := s.count(); most > 2 {
		t.Errorf("%d connections at once for one statement at a time", most)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	s.none(t)
}

// Who gives up while the connection is made must not leave it open.
func TestAbandonedDialsKeepNoConnections(t *testing.T) {
	s, url := watch(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // until then nobody looks whether the client is there
		<-r.Context().Done()
	})
	conn, err := olap.Open(olap.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := range 100 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*100+n)*time.Microsecond)
				if err := conn.Ping(ctx); err == nil {
					t.Error("nobody answers, and the ping succeeded")
				}
				cancel()
			}
		})
	}
	all.Wait()
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	s.none(t)
}
