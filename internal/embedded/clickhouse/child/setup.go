package child

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/front"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
)

// Command is the hidden argument by which the program becomes the child.
const Command = "__chdb"

// Setup is the line that the parent writes to standard input: what must not be seen in a list of processes.
type Setup struct {
	Users    []front.User    `json:"users"`
	Database string          `json:"database"`
	Limits   sqlguard.Limits `json:"limits"`
	Memory   int64           `json:"memory"` // bytes for all statements together; 0: the engine's default
}

// Ready is the line that the child writes to standard output.
type Ready struct {
	Addr    string `json:"addr,omitempty"`
	Version string `json:"version,omitempty"` // of ClickHouse
	Library string `json:"library,omitempty"` // version of libchdb
	Sandbox string `json:"sandbox,omitempty"` // what the kernel enforces
	Error   string `json:"error,omitempty"`
	Class   string `json:"class,omitempty"` // of the error, see Classes
}

// Classes of errors that the parent tells apart.
const (
	ClassLibrary = "library" // the library cannot be loaded
	ClassAddress = "address" // the address is taken or not allowed
	ClassLocked  = "locked"  // another process uses the folder
	ClassFolder  = "folder"  // the engine cannot open the folder
)

// options are the arguments.
type options struct {
	dir, lib, addr string
	confined       string // what an earlier stage of this process confined
}

func parseArgs(args []string, stderr io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet(Command, flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.dir, "dir", "", "data folder")
	fs.StringVar(&o.lib, "lib", "", "path of libchdb")
	fs.StringVar(&o.addr, "addr", "127.0.0.1:0", "loopback address to listen on")
	fs.StringVar(&o.confined, "confined", "", "internal")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.dir == "" || o.lib == "" {
		return o, errors.New("--dir and --lib are needed")
	}
	return o, checkLoopback(o.addr)
}

func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("address %q is not a loopback address", addr)
	}
	return nil
}

// layout are the folders below the data folder. All but data are emptied at every start.
type layout struct{ data, tmp, cwd string }

func (o options) layout() layout {
	return layout{data: filepath.Join(o.dir, "data"), tmp: filepath.Join(o.dir, "tmp"), cwd: filepath.Join(o.dir, "empty")}
}

func (l layout) make() error {
	for _, dir := range []string{l.tmp, l.cwd} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("empty the temp folder: %w", err)
		}
	}
	for _, dir := range []string{l.data, l.tmp, l.cwd} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make the data folder: %w", err)
		}
	}
	return nil
}

func readSetup(in *bufio.Reader) (Setup, error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return Setup{}, fmt.Errorf("read the setup from standard input: %w", err)
	}
	var s Setup
	if err := json.Unmarshal(line, &s); err != nil {
		return Setup{}, fmt.Errorf("read the setup from standard input: %w", err)
	}
	return s, nil
}
