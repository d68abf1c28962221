package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed256f7767/spade/internal/embedded/chdblib"
	"github.com/seed256f7767/spade/internal/gym/python"
)

// Platform says what the program runs on.
func Platform(version string) Check {
	return Check{"program", func(context.Context) Finding {
		return Good("spade %s on %s/%s, %d cores", version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	}}
}

// Engine looks for the embedded ClickHouse engine.
func Engine(cfg chdblib.Config) Check {
	return Check{"engine", func(context.Context) Finding {
		path, err := chdblib.Find(cfg)
		switch {
		case err == nil:
			return Good("libchdb %s at %s", chdblib.Version, path)
		case errors.Is(err, chdblib.ErrUnsupported):
			return Bad("point SPADE_CLICKHOUSE_URL at a ClickHouse server", "%v", err)
		default:
			return Bad("spade install", "%v", err)
		}
	}}
}

// NPM looks for the client that installs the engine; without the engine it is needed.
func NPM(cfg chdblib.Config) Check {
	const remedy = "install Node.js with npm, or set SPADE_LIBCHDB to a libchdb you have"
	return Check{"npm", func(ctx context.Context) Finding {
		_, missing := chdblib.Find(cfg)
		out, err := exec.CommandContext(ctx, "npm", "--version").Output()
		switch {
		case err == nil:
			return Good("npm %s", strings.TrimSpace(string(out)))
		case missing == nil:
			return Good("not found, and not needed: the engine is installed")
		default:
			return Bad(remedy, "not found, and it installs the engine")
		}
	}}
}

// Room that a data folder should have: below the first nothing works for long, below the second a long run may not end.
const (
	leastRoom  = 200 << 20
	enoughRoom = 2 << 30
)

// DataFolder looks whether the data folder can be written and has room.
func DataFolder(path string) Check {
	return Check{"data", func(context.Context) Finding {
		at, err := existing(path)
		if err != nil {
			return Bad("choose another folder with --data", "%v", err)
		}
		if err := writable(at); err != nil {
			return Bad("choose another folder with --data, or change its owner", "%s cannot be written: %v", at, err)
		}
		var stat unix.Statfs_t
		if err := unix.Statfs(at, &stat); err != nil {
			return Poor("", "%s: cannot tell how much room there is: %v", at, err)
		}
		room := stat.Bavail * uint64(stat.Bsize)
		switch {
		case room < leastRoom:
			return Bad("make room, or choose another folder with --data", "%s: %d MB free", path, room>>20)
		case room < enoughRoom:
			return Poor("a long run may need more: make room, or choose another folder with --data", "%s: %d MB free", path, room>>20)
		}
		return Good("%s: %.1f GB free", path, float64(room)/1e9)
	}}
}

// existing is the nearest folder above a path, or at it, that exists.
func existing(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for {
		info, err := os.Stat(abs)
		switch {
		case err == nil && info.IsDir():
			return abs, nil
		case err == nil:
			return "", fmt.Errorf("%s is not a folder", abs)
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		abs = filepath.Dir(abs)
	}
}

func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".spade-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Loopback looks whether servers can listen on the loopback interface.
func Loopback() Check {
	return Check{"loopback", func(ctx context.Context) Finding {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return Bad("bring the interface up: ip link set lo up", "nothing can listen on 127.0.0.1: %v", err)
		}
		if err := l.Close(); err != nil {
			return Bad("", "close a listener: %v", err)
		}
		return Good("127.0.0.1 can be listened on")
	}}
}

// Python looks for the interpreter of Python environments, a path or a name on the PATH; only runs with runtime python need
// it.
func Python(interpreter string) Check {
	const remedy = "environments in Starlark need none"
	return Check{"python", func(ctx context.Context) Finding {
		found, err := python.Find(ctx, interpreter)
		if err != nil {
			return Poor(remedy, "%v", err)
		}
		return Good("Python %s at %s", found.Version, found.Path)
	}}
}

// Plugin looks for the executable of the trainer plugin.
func Plugin(command []string) Check {
	return Check{"plugin", func(context.Context) Finding {
		if len(command) == 0 {
			return Bad("make build", "no trainer plugin")
		}
		path, err := exec.LookPath(command[0])
		if err != nil {
			return Bad("make build, or set plugin.command", "%v", err)
		}
		return Good("%s", path)
	}}
}
