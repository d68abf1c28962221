package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// Shutdown lets calls in progress end, as long as ctx allows, and then ends the process: by asking, by TERM, by KILL. It
// is idempotent. The error says that the plugin did not end as asked; it has ended in any case.
func (p *Plugin) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		<-p.proc.done
		return nil
	}
	p.closed = true
	p.mu.Unlock()

	var err error
	if _, rpcErr := p.rpc.Shutdown(ctx, &pluginpb.ShutdownRequest{}); rpcErr != nil && p.proc.Exit() == "" {
		err = fmt.Errorf("shut down plugin: %w", rpcErr)
	}
	if !p.waitEnd(p.proc, p.cfg.StopGrace) {
		termGroup(p.proc.Pid())
		if !p.waitEnd(p.proc, p.cfg.StopGrace) {
			err = errors.Join(err, fmt.Errorf("shut down plugin: it had to be killed"))
		}
	}
	p.discard()
	p.log.Info("plugin stopped", "plugin", p.info.Name, "exit", p.proc.Exit())
	return errors.Join(err, p.dir.remove())
}
