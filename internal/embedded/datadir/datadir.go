package datadir

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed256f7767/spade/internal/secret"
)

// Format is the number of the layout that this program reads and writes.
const Format = 1

// User is the name by which every client logs in.
const User = "spade"

// Names of what lies in a data folder.
const (
	formatFile    = "format.json"
	secretsFile   = "secrets.json"
	addressesFile = "addresses.json"
	contactFile   = "supervisor.json"
	lockFile      = "lock"
	logsDir       = "logs"
)

// Services are the folders of the servers, which are also their names.
const (
	Kafka      = "kafka"
	ClickHouse = "clickhouse"
	Qdrant     = "qdrant"
)

// Classes of errors, for errors.Is.
var (
	// ErrFormat: the folder was written by another version.
	ErrFormat = errors.New("the data folder has another format")
	// ErrHalfWritten: the folder holds data and no format.
	ErrHalfWritten = errors.New("the data folder is half-written")
	// ErrDiskFull: nothing can be written.
	ErrDiskFull = errors.New("no space left on the disk")
)

// Folder is a data folder.
type Folder struct{ path string }

// At names a folder without touching it. The path becomes absolute, with links
// resolved as far as it exists, so that every client means the same.
func At(path string) (Folder, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Folder{}, fmt.Errorf("data folder: %w", err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	return Folder{path: abs}, nil
}

// Path is the absolute path.
func (f Folder) Path() string { return f.path }

// Sub is the path of something inside.
func (f Folder) Sub(name string) string { return filepath.Join(f.path, name) }

// Logs is the folder of the log files.
func (f Folder) Logs() string { return f.Sub(logsDir) }

type formatInfo struct {
	Format int `json:"format"`
}

// Prepare makes the folder ready for its supervisor: it creates what is missing
// and refuses what it cannot read.
func (f Folder) Prepare() error {
	for _, dir := range []string{f.path, f.Logs()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return diskError("create data folder", err)
		}
	}
	err := f.checkFormat()
	if errors.Is(err, fs.ErrNotExist) {
		return f.initialise()
	}
	return err
}

// checkFormat refuses a format that this program cannot read; fs.ErrNotExist when
// there is none.
func (f Folder) checkFormat() error {
	var have formatInfo
	switch err := f.read(formatFile, &have); {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return fmt.Errorf("%w: %s: %w; restore it, or move the folder away to begin anew", ErrHalfWritten, f.Sub(formatFile), err)
	case have.Format != Format:
		return fmt.Errorf("%w: %s has format %d, this program reads format %d; use the program that wrote it, or another --data folder",
			ErrFormat, f.path, have.Format, Format)
	}
	return nil
}

// initialise writes the format of a folder that has none yet. A service's data
// without a format was not written by any version that finished its start.
func (f Folder) initialise() error {
	for _, name := range []string{Kafka, ClickHouse, Qdrant} {
		if _, err := os.Stat(f.Sub(name)); err != nil {
			continue
		}
		// Another client may have begun the folder since its format was looked for:
		// it wrote the format before any service's data.
		if err := f.checkFormat(); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return fmt.Errorf("%w: %s holds %s and no %s; restore that file, or move the folder away to begin anew",
			ErrHalfWritten, f.path, name, formatFile)
	}
	return f.write(formatFile, formatInfo{Format: Format}, 0o600)
}

// Secrets are the passwords of a folder's services.
type Secrets struct {
	Kafka      secret.Text
	ClickHouse secret.Text
	Reader     secret.Text // of ClickHouse's read-only user
	Qdrant     secret.Text
}

// storedSecrets is the only place where they are written in the clear.
type storedSecrets struct {
	Kafka      string `json:"kafka"`
	ClickHouse string `json:"clickhouse"`
	Reader     string `json:"clickhouse_reader"`
	Qdrant     string `json:"qdrant"`
}

// Secrets reads the folder's secrets; the first call makes them.
func (f Folder) Secrets() (Secrets, error) {
	var s storedSecrets
	err := f.read(secretsFile, &s)
	if errors.Is(err, fs.ErrNotExist) {
		s = storedSecrets{Kafka: rand.Text(), ClickHouse: rand.Text(), Reader: rand.Text(), Qdrant: rand.Text()}
		err = f.write(secretsFile, s, 0o600)
	}
	if damaged(err) {
		return Secrets{}, fmt.Errorf("%w: %w; remove that file and new ones are made", ErrHalfWritten, err)
	}
	if err != nil {
		return Secrets{}, fmt.Errorf("secrets of the data folder: %w", err)
	}
	if s.Kafka == "" || s.ClickHouse == "" || s.Reader == "" || s.Qdrant == "" {
		return Secrets{}, fmt.Errorf("%w: %s lacks a secret; remove that file and new ones are made", ErrHalfWritten, f.Sub(secretsFile))
	}
	return Secrets{
		Kafka: secret.New(s.Kafka), ClickHouse: secret.New(s.ClickHouse), Reader: secret.New(s.Reader), Qdrant: secret.New(s.Qdrant),
	}, nil
}

// Addresses are where the services listened last, by name. What cannot be read
// is forgotten: the services take free ports then.
func (f Folder) Addresses() map[string]string {
	out := map[string]string{}
	if f.read(addressesFile, &out) != nil || out == nil {
		return map[string]string{}
	}
	return out
}

// SetAddresses remembers where the services listen.
func (f Folder) SetAddresses(addrs map[string]string) error {
	return f.write(addressesFile, addrs, 0o600)
}

// Contact is how a client reaches the folder's supervisor.
type Contact struct {
	Socket string `json:"socket"`
	PID    int    `json:"pid"`
	Host   string `json:"host"`
}

// Contact reads how to reach the supervisor; fs.ErrNotExist when there is none.
func (f Folder) Contact() (Contact, error) {
	var c Contact
	err := f.read(contactFile, &c)
	return c, err
}

// SetContact publishes how to reach the supervisor.
func (f Folder) SetContact(c Contact) error { return f.write(contactFile, c, 0o600) }

// ClearContact withdraws it.
func (f Folder) ClearContact() error {
	if err := os.Remove(f.Sub(contactFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data folder: %w", err)
	}
	return nil
}

func (f Folder) read(name string, into any) error {
	b, err := os.ReadFile(f.Sub(name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("read %s: %w", f.Sub(name), err)
	}
	return nil
}

// damaged says that a file was there and did not hold what it should.
func damaged(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind)
}

// write replaces a file as a whole: a reader, or a start after a crash, sees the
// old content or the new.
func (f Folder) write(name string, v any, mode os.FileMode) (err error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	tmp, err := os.CreateTemp(f.path, name+".tmp*")
	if err != nil {
		return diskError("write "+name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(append(b, '\n'))
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), f.Sub(name))
	}
	return diskError("write "+name, err)
}

// diskError names a full disk.
func diskError(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s: %w: %w; free some, or use another --data folder", op, ErrDiskFull, err)
	default:
		return fmt.Errorf("%s: %w", op, err)
	}
}
