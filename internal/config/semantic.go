package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Resolved is the part of the semantic configuration that is known only once the program has looked: which model
// embeds, which plugin answers, what the suites hold.
type Resolved struct {
	EmbeddingModel string
	EmbeddingDim   int
	Plugin         string
	PluginVersion  string
	Suites         []string // NAME@SHA-256
	Pool           string   // designer fixed:POOL: NAME@DIGEST
}

// Semantic is the half of the configuration that, with the seed, determines a run's payloads.
func (c Config) Semantic(r Resolved) *spadepb.SemanticConfig {
	run := c.Run
	return &spadepb.SemanticConfig{
		Iterations: int32(run.Iterations), Designs: int32(run.Designs),
		EnvSeeds: int32(run.EnvSeeds), Repeats: int32(run.Repeats), HintBudget: int32(run.HintBudget),
		MaxAttempts: int32(run.MaxAttempts), MaxPolicyLag: int32(run.MaxPolicyLag),
		Designer: run.Designer, Runtime: run.Runtime,
		DocumentsPerDesign: int32(run.DocumentsPerDesign), RecalledPerDesign: int32(run.RecalledPerDesign),
		DuplicateThreshold: run.DuplicateThreshold,
		EmbeddingModel:     r.EmbeddingModel, EmbeddingDim: int32(r.EmbeddingDim),
		Estimator: run.Estimator, PayWeights: run.Pay.weights(),
		CoverageWindow: int32(run.CoverageWindow), CoveragePower: run.CoveragePower,
		CoverageFloor: run.CoverageFloor, CoverageSimilarity: run.CoverageSimilarity, HintGuard: run.HintGuard,
		Advantage: run.Advantage, AdvantageEps: run.AdvantageEps, AdvantageDdof: int32(run.AdvantageDDOF),
		Group: run.Group, TrainHinted: run.TrainHinted,
		Plugin: r.Plugin, PluginVersion: r.PluginVersion, PluginConfigJson: run.PluginConfig,
		AgentTemperature: run.AgentTemperature, DesignerTemperature: run.DesignerTemperature,
		Suites: r.Suites, EvalEvery: int32(run.EvalEvery), EvalSeeds: int32(run.EvalSeeds),
		Ablations: slices.Sorted(slices.Values(run.Ablations)), MaxStepsBudget: int64(run.MaxStepsBudget),
		NoHintArm: run.NoHintArm, Pool: r.Pool,
	}
}

// FixedPool is the name of the pool that a run draws from instead of designing; empty for a run with a designer.
func (r Run) FixedPool() string {
	name, fixed := strings.CutPrefix(r.Designer, "fixed:")
	if !fixed {
		return ""
	}
	return name
}

// weights is sorted by name, as the message demands.
func (p Pay) weights() []*spadepb.Weight {
	return []*spadepb.Weight{
		{Name: "coverage", Value: p.Coverage},
		{Name: "novelty", Value: p.Novelty},
		{Name: "regret", Value: p.Regret},
		{Name: "validity", Value: p.Validity},
	}
}

// DeploymentJSON is the other half, for the record of a run: where it ran, secrets masked.
func (l Loaded) DeploymentJSON() (string, error) {
	values := map[string]any{}
	for _, f := range Fields() {
		if !f.IsSemantic() {
			values[f.Key] = f.Value(l.Config)
		}
	}
	out, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("write deployment settings: %w", err)
	}
	return string(out), nil
}
