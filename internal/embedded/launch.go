package embedded

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/supervisor"
	"github.com/seed256f7767/spade/internal/embedded/wire"
)

// launchTimeout bounds the time until a new supervisor reports.
const launchTimeout = 20 * time.Second

// launch starts a supervisor and returns when it can be reached. The process
// that is started detaches the supervisor and ends, so nothing is left to wait
// for; the report comes through the pipe that the supervisor inherits.
func (l *Lease) launch(ctx context.Context) error {
	command := l.set.Command
	if command == nil {
		exe, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find the executable: %w", err)
		}
		command = []string{exe, supervisor.Command}
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	args := append(append([]string{}, command[1:]...), l.cfg.options().Args()...)
	cmd := exec.CommandContext(ctx, command[0], args...) //nolint:gosec // this program itself
	cmd.WaitDelay = launchTimeout
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	// Run returns when the pipe is closed, which the supervisor does once it has
	// reported.
	runErr := cmd.Run()
	var r wire.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return fmt.Errorf("the supervisor said nothing of use: %w: %s", firstError(ctx.Err(), runErr, err), strings.TrimSpace(problems.String()))
	}
	if r.Socket == "" {
		return supervisor.ReportError(r)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
