package wire

import "encoding/json"

// Outcome is how an episode ended; empty while it goes on.
type Outcome string

// The outcomes of an episode. EnvError, VerifierError and Cancelled say nothing about the agent.
const (
	Ongoing       Outcome = ""
	Solved        Outcome = "solved"
	Failed        Outcome = "failed"
	AgentError    Outcome = "agent_error"
	EnvError      Outcome = "env_error"
	VerifierError Outcome = "verifier_error"
	Timeout       Outcome = "timeout"
	Overlong      Outcome = "overlong"
	Cancelled     Outcome = "cancelled"
	TextEncoding  Outcome = "text_encoding"
)

// Cause says what kind of fault is behind an outcome that is neither solved nor failed.
type Cause string

// The causes.
const (
	CauseNone      Cause = ""
	CauseException Cause = "exception" // the environment's code raised an error
	CauseBudget    Cause = "budget"    // too many interpreter steps in one call
	CauseRecursion Cause = "recursion" // calls nested too deep
	CauseMemory    Cause = "memory"    // the worker reached its memory limit
	CauseTimeout   Cause = "timeout"   // the wall clock, which is only the backstop
	CauseCrashed   Cause = "crashed"   // the worker died otherwise
	CauseProtocol  Cause = "protocol"  // the worker sent what it must not send
	CauseShape     Cause = "shape"     // a return value of the wrong shape or type
	CauseReward    Cause = "reward"    // a reward that is not finite, or a return outside [0, 1]
	CauseLimit     Cause = "limit"     // a text or state over its size limit
	CauseEncoding  Cause = "encoding"  // text that is not UTF-8
	CauseMutation  Cause = "mutation"  // hint, verify or solve changed the state
	CauseMismatch  Cause = "mismatch"  // verify and the return disagree
)

// Fault is what went wrong: an outcome, its kind and a text for people. The zero Fault means nothing did.
type Fault struct {
	Outcome Outcome
	Cause   Cause
	Error   string
	// Nondeterministic marks an answer that a clock had a part in: the wall clock ended the call, or ended it once and the
	// call was made again. It never travels: the platform alone knows.
	Nondeterministic bool
}

// Meta is what an environment says about itself.
type Meta struct {
	Title    string
	Kind     string
	MaxSteps int
	// Tools are JSON Schemas, as canonical JSON.
	Tools []json.RawMessage
	// HasSolve says whether the environment brings a reference solution.
	HasSolve bool
}

// Limits is what a worker allows an environment. Zero fields take the defaults of DefaultLimits.
type Limits struct {
	// LoadSteps and CallSteps are interpreter steps for loading the module and for one call of one of its functions.
	LoadSteps, CallSteps uint64
	// Depth is how deep calls may nest.
	Depth int
	// Bytes, each for one text; State is the canonical JSON of one episode's state.
	Observation, Info, Action, Hint, State int
}

// DefaultLimits returns the limits of the contract.
func DefaultLimits() Limits {
	return Limits{
		LoadSteps: 10_000_000, CallSteps: 2_000_000, Depth: 200,
		Observation: 256 << 10, Info: 64 << 10, Action: 1 << 20, Hint: 64 << 10, State: 1 << 20,
	}
}

// Load asks a fresh worker to load a source. A worker loads once in its life.
type Load struct {
	Runtime, Code string
	Limits        Limits
}

// Loaded answers Load. Stage is empty when it went well, else it names where the source failed: parse, load or meta.
type Loaded struct {
	Stage string
	Fault Fault
	Meta  Meta
}

// Reset asks for a fresh episode from the state right after the source was loaded.
type Reset struct {
	// Episode is the caller's number for it, unique among the worker's open episodes.
	Episode int
	Seed    uint64
	// WantHint and WantSolve ask for the hint and the reference solution of the state right after reset.
	WantHint, WantSolve bool
}

// Started answers Reset. With an Outcome the episode has ended already.
type Started struct {
	Episode     int
	Observation string
	// Info is canonical JSON.
	Info string
	// Actions are the legal actions that info lists, if it does.
	Actions   []string
	Hint      string
	Solution  []string
	StateHash string
	Fault
}

// Action is the agent's move in one episode.
type Action struct {
	Episode int
	Text    string
}

// Stepped answers Action. With an Outcome the episode has ended and its number is free again.
type Stepped struct {
	Episode     int
	Observation string
	Info        string
	Actions     []string
	Reward      float64
	// Return is the sum of the rewards so far.
	Return                float64
	Terminated, Truncated bool
	StateHash             string
	// Verify is what the verification code says of the last state; nil while the episode goes on or when it failed to say.
	Verify *float64
	Fault
}
