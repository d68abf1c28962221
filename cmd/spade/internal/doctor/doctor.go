package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

// Status is how a check ended.
type Status string

// The three ways a check ends. Only Fail says that something will not work.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Finding is what a check found.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

// Check looks at one thing. It obeys its context.
type Check struct {
	Name string
	Look func(ctx context.Context) Finding
}

// Good, Poor and Bad are findings without a name; Run adds the check's.
func Good(format string, args ...any) Finding {
	return Finding{Status: OK, Detail: fmt.Sprintf(format, args...)}
}

// Poor is a finding that may matter, with what to do about it.
func Poor(remedy, format string, args ...any) Finding {
	return Finding{Status: Warn, Remedy: remedy, Detail: fmt.Sprintf(format, args...)}
}

// Bad is a finding that will be in the way, with what to do about it.
func Bad(remedy, format string, args ...any) Finding {
	return Finding{Status: Fail, Remedy: remedy, Detail: fmt.Sprintf(format, args...)}
}

// patience bounds one check: what takes longer does not work.
const patience = 30 * time.Second

// Output is where findings go.
type Output struct {
	Out   io.Writer
	JSON  bool // one array at the end; else a line a finding, as it is found
	Style screen.Style
}

// Run makes the checks in their order and reports whether none failed.
func Run(ctx context.Context, checks []Check, out Output) (bool, error) {
	all := make([]Finding, 0, len(checks))
	good := true
	for _, c := range checks {
		f := look(ctx, c)
		good = good && f.Status != Fail
		all = append(all, f)
		if out.JSON {
			continue
		}
		if _, err := io.WriteString(out.Out, out.text(f)); err != nil {
			return good, err
		}
	}
	if out.JSON {
		enc := json.NewEncoder(screen.JSONWriter(out.Out))
		enc.SetIndent("", "  ")
		return good, enc.Encode(all)
	}
	return good, nil
}

func look(ctx context.Context, c Check) Finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f := c.Look(ctx)
	f.Check = c.Name
	return f
}

func (o Output) text(f Finding) string {
	mark := map[Status]string{
		OK: o.Style.Good("ok  "), Warn: o.Style.Warn("warn"), Fail: o.Style.Bad("fail"),
	}[f.Status]
	text := fmt.Sprintf("%s  %-13s %s\n", mark, f.Check, screen.Escape(f.Detail))
	if f.Remedy != "" {
		const arrow, indent = "                    → ", "\n                      " // under the detail
		text += o.Style.Dim(arrow) + strings.ReplaceAll(screen.EscapeLines(f.Remedy), "\n", indent) + "\n"
	}
	return text
}
