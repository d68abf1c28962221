// Package outcome names how an episode can end, and which endings say something about the agent.
package outcome

// Outcomes of an episode. Exactly one per episode.
const (
	Solved        = "solved"         // terminated with a return of 1, within 1e-6
	Failed        = "failed"         // ended with less
	AgentError    = "agent_error"    // the agent's action could not be used
	EnvError      = "env_error"      // the environment raised, or returned what no environment may return
	VerifierError = "verifier_error" // verify raised, or returned no score
	Timeout       = "timeout"        // the environment used up its step budget or its time
	Overlong      = "overlong"       // truncated at max_steps
	Cancelled     = "cancelled"      // given up by the platform
	TextEncoding  = "text_encoding"  // text that is not UTF-8 where text must be
)

// Valid reports whether an episode says something about the agent. The others are shown, but stay out of regret and
// advantages: a missing measurement is never a penalty.
func Valid(outcome string) bool {
	switch outcome {
	case EnvError, VerifierError, Cancelled:
		return false
	}
	return true
}
