package gate

import (
	"time"

	"github.com/seed256f7767/spade/internal/gym"
)

// The stages, in the order in which they are judged.
const (
	StageSize          = "size"          // the source is within its limit
	StageParse         = "parse"         // it parses
	StagePortable      = "portable"      // only where asked: it runs alike in both languages
	StageLoad          = "load"          // it loads within its budget
	StageMeta          = "meta"          // META and the functions are there and well formed
	StageReset         = "reset"         // reset, hint and solve answer well for every seed
	StageRun           = "run"           // no step fails, whatever the action, and all texts are within their limits
	StageDeterministic = "deterministic" // the same in a second fresh worker: alone, interleaved, in reverse order
	StageBothRuntimes  = "both_runtimes" // only where asked: the same in the other runtime, to the last byte
	StageTerminates    = "terminates"    // the reference solution ends the episode within max_steps
	StageRewards       = "rewards"       // rewards are finite and returns lie in [0, 1]
	StageVerify        = "verify"        // verify agrees with the return at termination, and changes nothing
	StageReference     = "reference"     // the reference solution scores 1
	StageWrong         = "wrong_answers" // three wrong solutions do not all score 1
	StageRandom        = "random_policy" // a random policy does not already solve it
	StageHint          = "hint_leak"     // the hint is not in what the plain arm sees first
)

// Stages lists the stages in order. StagePortable and StageBothRuntimes are judged only where Options ask for them.
func Stages() []string {
	return []string{
		StageSize, StageParse, StagePortable, StageLoad, StageMeta, StageReset, StageRun, StageDeterministic,
		StageBothRuntimes, StageTerminates, StageRewards, StageVerify, StageReference, StageWrong, StageRandom, StageHint,
	}
}

// Options are the gate's settings. The zero value works.
type Options struct {
	// Seed is where all of the gate's randomness comes from: the environment seeds and the random policy.
	Seed uint64
	// Seeds are the environment seeds to play. Empty: four derived from Seed.
	Seeds []uint64
	// Crowd are more environment seeds that may be played. The last workers of Python play some of them beside the others, so
	// that a source cannot count the seeds. Empty: none, and derived ones where Seeds are.
	Crowd []uint64
	// RandomEpisodes is how many episodes the random policy plays on each seed. Zero: 4.
	RandomEpisodes int
	// MaxRandom is the mean return of the random policy from which on the environment counts as solved by it. Zero: 0.75.
	MaxRandom float64
	// RequireSolve refuses a source without a reference solution. Otherwise the stages that need one are skipped, and the
	// report says so.
	RequireSolve bool
	// Portable adds the static check for sources that are to run alike in both languages.
	Portable bool
	// BothRuntimes plays the source in the other runtime too, and wants the same of it. Where that runtime does not work
	// here the stage is skipped.
	BothRuntimes bool
	// TimeLimit is how long a Python source may take in all. Its calls are bounded one by one, and there are hundreds of
	// them. Zero: 2 min. Starlark has no need of it, because its steps are counted.
	TimeLimit time.Duration
	// Progress, where set, hears of each result as it is there.
	Progress func(CheckResult)
}

// CheckResult is one judged stage.
type CheckResult struct {
	Stage string
	OK    bool
	// Skipped says that the stage could not be judged and why is in Reason; it is then neither passed nor failed.
	Skipped bool
	Reason  string
}

// Report is what the gate found.
type Report struct {
	Accepted bool
	// Checks are the judged stages in order. After the first failure of a stage that others build on, those are absent.
	Checks []CheckResult
	// Stage and Reason are those of the first failure.
	Stage, Reason string
	Meta          gym.Meta
	Stats         Stats
	// Tier is the sandbox tier that ran it. It is an observation, not part of what the source determines.
	Tier string
	// Nondeterministic says that a clock had a part in the result.
	Nondeterministic bool
}

// Stats are measures of the environment. They depend on the source and the options only.
type Stats struct {
	// SourceBytes is the size of the source, Seeds how many environment seeds were played, Episodes and Steps all that was
	// played in the first worker.
	SourceBytes, Seeds, Episodes, Steps int
	// DistinctStarts is how many of the seeds have a first state of their own.
	DistinctStarts int
	// ReferenceSteps is the mean length of the reference solution over the seeds, and the longest.
	ReferenceSteps    float64
	ReferenceStepsMax int
	// RandomReturn is the mean return of the random policy, RandomSolved the share of its episodes that are solved,
	// RandomSteps their mean length.
	RandomReturn, RandomSolved, RandomSteps float64
	// WrongSolved is how many of the three wrong solutions are solved nonetheless.
	WrongSolved int
	// ActionsMean is the mean number of listed actions, over all observations that list any.
	ActionsMean float64
	// ObservationBytes and HintBytes are the longest seen.
	ObservationBytes, HintBytes int
}

// judge collects results.
type judge struct {
	opts   Options
	report *Report
}

// pass records a stage and returns whether it was passed. An empty reason passes.
func (j *judge) pass(stage, reason string) bool {
	j.add(CheckResult{Stage: stage, OK: reason == "", Reason: reason})
	return reason == ""
}

func (j *judge) skip(stage, reason string) {
	j.add(CheckResult{Stage: stage, Skipped: true, Reason: reason})
}

func (j *judge) add(r CheckResult) {
	j.report.Checks = append(j.report.Checks, r)
	if !r.OK && !r.Skipped && j.report.Stage == "" {
		j.report.Stage, j.report.Reason = r.Stage, r.Reason
	}
	if j.opts.Progress != nil {
		j.opts.Progress(r)
	}
}
