package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/endpoints"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/embedded"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/vector"
)

// newWorker is a group with a command for each role, so that each has its own help.
func newWorker(c *cli) *cobra.Command {
	var commands []*cobra.Command
	for _, role := range app.Roles() {
		commands = append(commands, newRole(c, role))
	}
	cmd := group("worker", "Work on runs as one role of many processes", commands...)
	cmd.Long = `A run's roles may be processes of their own, on one machine or many, joined by Kafka only. Any number of
each may join and leave while a run goes on; its digest stays that of a run in one process. A run is opened
with spade run --submit, or by spade run, which plays all roles itself and takes others' help.

A worker works on every run that is not finished, as they come, or with --run on one, and ends with it; memory
and warehouse workers fill one store for all runs and have no --run. A run needs at least one trainer,
designer, rollout, scorer and memory worker; without a warehouse worker it goes on, unseen by SQL.

A worker logs from level info on, unless --log-level or log.level says otherwise.`
	cmd.Example = `  spade run --submit --name big --iterations 100 --corpus examples/corpus
  spade worker trainer &
  spade worker designer &
  spade worker rollout --concurrency 16 &
  spade worker scorer & spade worker memory & spade worker warehouse &`
	return cmd
}

// about says what a role does.
func about(role app.Role) (short, long string) {
	switch role {
	case app.RoleDesigner:
		return "Answer design requests", `Samples documents, recalls what was built, asks the policy for an environment and puts it through the
acceptance gate. It runs the code that is designed, in the sandbox.`
	case app.RoleRollout:
		return "Play accepted environments", `Plays each accepted environment with and without its hint, in sandboxed workers.`
	case app.RoleScorer:
		return "Estimate regrets and pay designers", `Estimates the regret of each environment once its episodes are in, and pays its designer.`
	case app.RoleTrainer:
		return "Lead a run: ask for designs, close iterations, train, evaluate", `Several may run: one is elected for each run, the others stand by and take over when it goes away. A trainer
that was stalled and wakes up can do no harm: the first record of an event counts.`
	case app.RoleMemory:
		return "Project documents and environments into the vector store", `Designers wait until the memory holds what the log does, so that at least one must run.`
	case app.RoleWarehouse:
		return "Project the log into the warehouse", `Exactly once in effect, however often it is killed.`
	default:
		return "Answer designer and rollout workers of other machines", `Holds one trainer plugin for each run and answers for it on policy.listen. Workers that are started with
--policy-addr ask it instead of starting a plugin of their own.`
	}
}

func newRole(c *cli, role app.Role) *cobra.Command {
	var run string
	var concurrency atOnce
	short, long := about(role)
	cmd := &cobra.Command{
		Use: string(role), Short: short, Args: exactArgs(),
		Long:    long + "\n\nIt logs from level info on, unless --log-level or log.level says otherwise.",
		Example: fmt.Sprintf("  spade worker %s", role),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, _, err := c.load(cmd)
			if err != nil {
				return err
			}
			if concurrency != 0 {
				l.Workers = int(concurrency)
			}
			return c.work(cmd.Context(), l, role, run)
		},
	}
	config.BindFlags(cmd.Flags(), func(f config.Field) bool { return isRoleSetting(role, f) })
	if role != app.RoleMemory && role != app.RoleWarehouse {
		cmd.Flags().StringVar(&run, "run", "", "name or id of the only run to work on; it may be opened later")
		cmd.Example += fmt.Sprintf("\n  spade worker %s --run big", role)
	}
	switch role {
	case app.RoleDesigner, app.RoleRollout, app.RoleTrainer:
		cmd.Flags().Var(&concurrency, "concurrency", "environments worked on at once; 0 = one a core")
		cmd.Example += fmt.Sprintf("\n  spade worker %s --concurrency 16", role)
	}
	return cmd
}

// maxAtOnce is the most environments that a process works on at once, as of the setting workers.
const maxAtOnce = 1024

// atOnce is the flag --concurrency. It has the bounds of the setting that it takes the place of.
type atOnce int

// String is the flag's text.
func (n *atOnce) String() string { return strconv.Itoa(int(*n)) }

// Type is what help shows after the flag's name.
func (n *atOnce) Type() string { return "int" }

// Set takes the flag's text.
func (n *atOnce) Set(text string) error {
	v, err := strconv.Atoi(text)
	if err != nil || v < 0 || v > maxAtOnce {
		return fmt.Errorf("%q is not a whole number from 0 to %d", text, maxAtOnce)
	}
	*n = atOnce(v)
	return nil
}

// isRoleSetting reports whether a setting has a flag on the command of a role.
func isRoleSetting(role app.Role, f config.Field) bool {
	plays := role == app.RoleDesigner || role == app.RoleRollout || role == app.RoleTrainer
	switch {
	case isWatchSetting(f):
		return true
	case f.Key == "plugin.command":
		return plays || role == app.RolePolicy
	case f.Key == "policy.addr":
		return role == app.RoleDesigner || role == app.RoleRollout
	case strings.HasPrefix(f.Key, "policy.") && !f.Secret:
		return role == app.RolePolicy && f.Key != "policy.ca"
	case f.Key == "run.suites" || f.Key == "checkpoints":
		return role == app.RoleTrainer
	default:
		return plays && f.Key != "workers" && isWorkerSetting(f)
	}
}

// work works as a role until it is interrupted, and drains then.
func (c *cli) work(ctx context.Context, l config.Loaded, role app.Role, run string) (err error) {
	level := l.Log
	if l.Origin("log.level") == config.OriginDefault {
		level.Level = "info" // a worker has no other way to show what it does
	}
	log, err := newLogger(c.err, level)
	if err != nil {
		return err
	}
	log = identified(log, string(role))
	told, err := watchProcess(ctx, l, string(role), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, told.close()) }()
	warehouse, vectors := role.Needs()
	needed := []embedded.Service{embedded.Kafka}
	if warehouse {
		needed = append(needed, embedded.ClickHouse)
	}
	if vectors {
		needed = append(needed, embedded.Qdrant)
	}
	at, err := endpoints.Connect(ctx, l, endpoints.Settings{Logger: log, Purpose: "spade worker " + string(role), Services: needed})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	to := at.At
	if !slices.Contains(needed, embedded.ClickHouse) {
		to.ClickHouse = olap.Config{}
	}
	if !slices.Contains(needed, embedded.Qdrant) {
		to.Qdrant = vector.Config{}
	}
	to.Kafka.StopTimeout = time.Duration(l.Drain) * time.Second
	services, err := app.Open(ctx, l, to, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, services.Close(context.WithoutCancel(ctx))) }()
	guarded, stop := at.Guard(ctx)
	defer stop()
	told.over(services)
	w := &app.Worker{Services: services, Config: l, Role: role, Run: run}
	log.Info("worker begins", "kafka", at.At.Kafka.Brokers)
	err = w.Work(guarded)
	if lost := context.Cause(guarded); lost != nil && ctx.Err() == nil {
		return lost // what the worker says of it is only that it was ended, or nothing
	}
	if ctx.Err() != nil && err == nil {
		log.Info("worker has drained")
	}
	return err
}
