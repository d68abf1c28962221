package engine

import (
	"fmt"
	"sort"
	"strings"
	"unsafe"
)

// Engine is ClickHouse running on one folder.
type Engine struct {
	lib  *Library
	dir  string
	keep *Conn // open as long as the engine: closing the last handle would shut it down
}

// Open boots the engine on dir. options are the engine's server options, by name.
func Open(lib *Library, dir string, options map[string]string) (*Engine, error) {
	e := &Engine{lib: lib, dir: dir}
	keep, err := e.connect(options)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	e.keep = keep
	return e, nil
}

// Connect makes a handle whose statements run in database with the given settings. Unknown setting names and bad
// values are errors, as under SET.
func (e *Engine) Connect(database string, settings map[string]string) (*Conn, error) {
	c, err := e.connect(nil)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(database, settings); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// prepare applies what a handle remembers. The settings go last and together: readonly among them ends all changes.
func (c *Conn) prepare(database string, settings map[string]string) error {
	if database != "" {
		if _, _, err := c.Exec("USE "+QuoteIdentifier(database), "Null"); err != nil {
			return err
		}
	}
	if len(settings) == 0 {
		return nil
	}
	names := make([]string, 0, len(settings))
	for name := range settings {
		names = append(names, name)
	}
	sort.Strings(names)
	set := make([]string, 0, len(names))
	for _, name := range names {
		set = append(set, QuoteIdentifier(name)+" = "+QuoteString(settings[name]))
	}
	_, _, err := c.Exec("SET "+strings.Join(set, ", "), "Null")
	return err
}

// Kill stops the statements of every handle whose log_comment setting is tag. It does not wait for them to end, and
// a statement that has not begun yet is not found: callers repeat it.
func (e *Engine) Kill(tag string) error {
	c, err := e.connect(nil)
	if err != nil {
		return err
	}
	defer c.Close()
	_, _, err = c.Exec("KILL QUERY WHERE Settings['log_comment'] = "+QuoteString(tag)+" ASYNC", "Null")
	return err
}

// Close shuts the engine down. Every handle must be closed before.
func (e *Engine) Close() { e.keep.Close() }

func (e *Engine) connect(options map[string]string) (*Conn, error) {
	args := []string{"clickhouse", "--path=" + e.dir}
	for name, value := range options {
		args = append(args, "--"+name+"="+value)
	}
	sort.Strings(args[2:])
	var m cmem
	defer m.release()
	argv := make([]unsafe.Pointer, 0, len(args)+1)
	for _, a := range args {
		argv = append(argv, m.text(a))
	}
	argv = append(argv, nil)
	conn := e.lib.connect(int32(len(args)), m.array(argv)) //nolint:gosec // a handful of arguments
	if conn == nil {
		return nil, newError("the engine refused to open a handle on the folder")
	}
	return &Conn{lib: e.lib, conn: conn}, nil
}

// QuoteString writes s as a ClickHouse string literal.
func QuoteString(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// QuoteIdentifier writes s as a ClickHouse identifier.
func QuoteIdentifier(s string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(s) + "`"
}
