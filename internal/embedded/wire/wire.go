// Package wire is what a client and the supervisor of a data folder say to each
// other over a unix socket: lines of JSON.
//
// A client sends one Hello and reads States until it leaves. Its lease is the
// open connection: a process that is killed gives it back. Only processes of
// the same user are answered, and the States carry the folder's secrets.
package wire

import (
	"errors"
	"fmt"
	"net"
)

// Version is the number of this protocol. Client and supervisor must agree; they
// differ only while a supervisor of another build still runs.
const Version = 1

// Hello opens a lease.
type Hello struct {
	Version int `json:"version"`
	PID     int `json:"pid"`
	// Lease names the lease. The client chooses it, so that it stays the same
	// when another supervisor takes over.
	Lease   string `json:"lease"`
	Purpose string `json:"purpose"` // for the log: the command
	// Services that the client wants; they are started if they do not run yet.
	Services []string `json:"services"`
}

// State is the whole state of the supervisor, sent when a lease begins and with
// every change.
type State struct {
	Version int    `json:"version"`
	PID     int    `json:"pid"`
	Refused string `json:"refused,omitempty"` // why there is no lease

	User     string             `json:"user"`
	Secrets  Secrets            `json:"secrets"`
	Services map[string]Service `json:"services"`
}

// Secrets in the clear: the socket is the user's own.
type Secrets struct {
	Kafka      string `json:"kafka"`
	ClickHouse string `json:"clickhouse"`
	Reader     string `json:"clickhouse_reader"`
	Qdrant     string `json:"qdrant"`
}

// Service is one server.
type Service struct {
	Phase Phase  `json:"phase"`
	Addr  string `json:"addr,omitempty"`
	PID   int    `json:"pid,omitempty"` // of a server with a process of its own
	// Error is why the server is down, or will never be up.
	Error string `json:"error,omitempty"`
	// Retrying says that a failed service is tried again from time to time.
	Retrying bool `json:"retrying,omitempty"`
}

// Phase is what a server is doing.
type Phase string

// Phases. A failed service is not tried again unless it says Retrying, or a
// client asks for it anew; a restarting one is.
const (
	Starting   Phase = "starting"
	Ready      Phase = "ready"
	Restarting Phase = "restarting"
	Failed     Phase = "failed"
)

// Report is the line that a new supervisor prints when it can be reached, or
// when it cannot begin.
type Report struct {
	Socket string `json:"socket,omitempty"`
	PID    int    `json:"pid"`
	Class  string `json:"class,omitempty"`
	Error  string `json:"error,omitempty"`
}

// ErrPeer: the other end belongs to another user.
var ErrPeer = errors.New("the other end of the socket belongs to another user")

// CheckPeer makes sure that the other end belongs to this user or to root.
func CheckPeer(conn *net.UnixConn, self int) error {
	uid, err := peerUID(conn)
	if err != nil {
		return fmt.Errorf("ask who is at the other end of the socket: %w", err)
	}
	if uid != self && uid != 0 {
		return fmt.Errorf("%w: user id %d", ErrPeer, uid)
	}
	return nil
}
