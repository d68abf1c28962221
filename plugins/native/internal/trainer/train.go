package trainer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/native/internal/agent"
	"github.com/seed256f7767/spade/plugins/native/internal/designer"
	"github.com/seed256f7767/spade/schemas/training"
)

// Train learns from the batches, in order, on a copy of version from. The outcome is a function of that version and the
// batches alone, whatever was loaded or trained before.
func (t *Trainer) Train(ctx context.Context, from, to int64, batches plugins.Batches) (plugins.Result, error) {
	base, err := t.get(from)
	if err != nil {
		return plugins.Result{}, err
	}
	l := lesson{from: base}
	if err := l.read(ctx, batches); err != nil {
		return plugins.Result{}, err
	}
	next, metrics := l.learn(t.config())
	ck, err := next.encode(to)
	if err != nil {
		return plugins.Result{}, err
	}
	t.put(to, next)
	return plugins.Result{Version: to, Rows: l.rows, Roles: l.roles(), Metrics: metrics, Checkpoint: ck}, nil
}

// lesson is what one training step learns from.
type lesson struct {
	from    *state
	rows    int64
	actions []agent.Sample
	designs []designer.Sample
	rewards float64 // of the actions
}

func (l *lesson) read(ctx context.Context, batches plugins.Batches) error {
	for rec, err := range batches {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.readBatch(rec); err != nil {
			return err
		}
	}
	return nil
}

func (l *lesson) readBatch(rec arrow.Record) error {
	v, err := training.NewView(rec)
	if err != nil {
		return &plugins.InvalidBatchError{Row: -1, Message: err.Error()}
	}
	for i := range v.Len() {
		row := v.Row(i)
		switch row.Role {
		case training.RoleAgent:
			err = l.action(&row)
		case training.RoleDesigner:
			err = l.design(&row)
		default:
			err = l.invalid(training.ColRole, fmt.Sprintf("role %q", row.Role))
		}
		if err != nil {
			return err
		}
		l.rows++
	}
	return nil
}

func (l *lesson) invalid(column, message string) error {
	return &plugins.InvalidBatchError{Row: l.rows, Column: column, Message: message}
}

func (l *lesson) action(row *training.Row) error {
	if len(row.Choices) == 0 {
		return nil // a free answer: this agent has none to learn
	}
	chosen := slices.Index(row.Choices, row.Completion)
	if len(row.TokenIDs) == 1 && int(row.TokenIDs[0]) < len(row.Choices) && row.TokenIDs[0] >= 0 {
		chosen = int(row.TokenIDs[0])
	}
	if chosen < 0 {
		return l.invalid(training.ColCompletion, "is none of the choices")
	}
	s := agent.Sample{Chosen: chosen, Advantage: row.Advantage, Messages: make([]agent.Message, len(row.Messages)), Choices: row.Choices}
	for i, m := range row.Messages {
		s.Messages[i] = agent.Message{Role: strings.Clone(m.Role), Content: strings.Clone(m.Content)}
	}
	for i, c := range s.Choices {
		s.Choices[i] = strings.Clone(c) // the record's memory ends with the batch
	}
	l.actions = append(l.actions, s)
	l.rewards += row.Reward
	return nil
}

func (l *lesson) design(row *training.Row) error {
	if err := l.from.designer.Check(row.TokenIDs); err != nil {
		return l.invalid(training.ColTokenIDs, err.Error())
	}
	l.designs = append(l.designs, designer.Sample{Tokens: row.TokenIDs, Reward: row.Reward})
	return nil
}

func (l *lesson) roles() []string {
	var out []string
	if len(l.actions) > 0 {
		out = append(out, training.RoleAgent)
	}
	if len(l.designs) > 0 {
		out = append(out, training.RoleDesigner)
	}
	return out
}

// learn returns the next state and its figures, sorted by name.
func (l *lesson) learn(cfg Config) (*state, []plugins.Metric) {
	next := &state{agent: l.from.agent, designer: l.from.designer}
	var ms []plugins.Metric
	add := func(name string, v float64) { ms = append(ms, plugins.Metric{Name: name, Value: v}) }
	if len(l.actions) > 0 {
		next.agent = l.from.agent.Clone()
		st := next.agent.Learn(l.actions, agent.Options{Rate: cfg.Rate, Epochs: cfg.Epochs})
		add("agent_samples", float64(st.Samples))
		add("entropy", st.Entropy)
		add("grad_norm", st.GradNorm)
		add("loss", st.Loss)
		add("reward_mean", l.rewards/float64(len(l.actions)))
	}
	if len(l.designs) > 0 {
		next.designer = l.from.designer.Clone()
		st := next.designer.Learn(l.designs)
		add("designer_entropy", st.Entropy)
		add("designer_reward_mean", st.RewardMean)
		add("designer_samples", float64(st.Samples))
	}
	slices.SortFunc(ms, func(a, b plugins.Metric) int { return strings.Compare(a.Name, b.Name) })
	return next, ms
}
