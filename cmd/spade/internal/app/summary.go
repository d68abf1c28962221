package app

import (
	"encoding/hex"
	"strings"

	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/digest"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Summary is what a run came to: the one object that `spade run --json` prints.
type Summary struct {
	RunID            string  `json:"run_id"`
	Name             string  `json:"name"`
	Iterations       int     `json:"iterations"`
	Pool             string  `json:"pool,omitempty"` // fixed pool that was drawn from
	Designed         int64   `json:"designed"`
	Accepted         int64   `json:"accepted"`
	Rejected         int64   `json:"rejected"`
	Rollouts         int64   `json:"rollouts"`
	Steps            int64   `json:"steps"`
	FirstRegret      float64 `json:"first_regret"`
	LastRegret       float64 `json:"last_regret"`
	NoRegret         bool    `json:"no_regret,omitempty"` // no environment had enough episodes for one
	FirstPlainReward float64 `json:"first_plain_reward"`
	LastPlainReward  float64 `json:"last_plain_reward"`
	LogDigest        string  `json:"log_digest"`
	Events           int     `json:"events"`
	Nondeterministic int     `json:"nondeterministic"`
	// Suites is the mean plain reward on the held-out suites before and after, by category; empty without suites.
	Suites []SuiteScore `json:"suites,omitempty"`
}

// SuiteScore is a category's mean reward at the first and the last policy version.
type SuiteScore struct {
	Suite    string  `json:"suite"`
	Category string  `json:"category"`
	Episodes int     `json:"episodes"`
	Before   float64 `json:"before"`
	After    float64 `json:"after"`
}

func summarise(run runs.Run, f *spadepb.RunFinished, d *digest.Log, suites []SuiteScore) Summary {
	sum := d.Sum()
	pool, fixed := strings.CutPrefix(run.Config.GetDesigner(), "fixed:")
	if !fixed {
		pool = ""
	}
	return Summary{
		Pool:  pool,
		RunID: run.ID.String(), Name: run.Name, Iterations: int(f.GetIterations()),
		Designed: f.GetDesigned(), Accepted: f.GetAccepted(), Rejected: f.GetRejected(),
		Rollouts: f.GetRollouts(), Steps: f.GetSteps(),
		FirstRegret: f.GetFirstRegret(), LastRegret: f.GetLastRegret(),
		FirstPlainReward: f.GetFirstRewardPlain(), LastPlainReward: f.GetLastRewardPlain(),
		LogDigest: hex.EncodeToString(sum[:]), Events: d.Len(), Nondeterministic: d.Nondeterministic(), Suites: suites,
	}
}
