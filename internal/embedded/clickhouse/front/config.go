package front

import (
	"errors"
	"log/slog"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/engine"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
)

// User may log in with a secret.
type User struct {
	Name   string `json:"name"`
	Secret string `json:"secret"`
	// ReadOnly users' SQL goes through sqlguard and runs under readonly=1 and the limits.
	ReadOnly bool `json:"read_only"`
}

// Config is what a Handler serves.
type Config struct {
	Engine   *engine.Engine
	TempDir  string // for pipes and spilled answers; the engine must be able to write there
	Users    []User
	Database string          // where statements run when the client names no database
	Limits   sqlguard.Limits // of read-only users
	// Parallel is how many statements run at once; more wait. Zero: 32.
	Parallel int
	// Buffer is how much of an answer is held back before the status is sent, in bytes. Zero: 256 KiB.
	Buffer int
	// Health is printed by /health, as JSON.
	Health any
	// Room says why the engine has no room to write; nil, or a nil error, means it has. It is asked before and after every
	// statement that writes: the engine does not notice itself.
	Room   func() error
	Logger *slog.Logger
}

func (cfg *Config) validate() error {
	var problems []error
	if cfg.Engine == nil {
		problems = append(problems, errors.New("no engine"))
	}
	if cfg.TempDir == "" {
		problems = append(problems, errors.New("no temp folder"))
	}
	for _, u := range cfg.Users {
		if u.Name == "" || u.Secret == "" {
			problems = append(problems, errors.New("a user without a name or secret"))
		}
	}
	if len(cfg.Users) == 0 {
		problems = append(problems, errors.New("no users"))
	}
	if cfg.Parallel == 0 {
		cfg.Parallel = 32
	}
	if cfg.Buffer == 0 {
		cfg.Buffer = 256 << 10
	}
	if cfg.Room == nil {
		cfg.Room = func() error { return nil }
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return errors.Join(problems...)
}
