package progress

import "time"

// State is the figures of a run that a view shows. The run fills it; a view only reads copies.
type State struct {
	Name       string
	RunID      string
	Phase      string // what is going on, "starting services", "running", "evaluating"
	Note       string // how far that is; shown live only
	Iterations int    // to do in all
	Closed     int    // iterations that are closed, those of earlier processes included
	Began      int    // iterations that were closed when this process took the run up
	Policy     int64  // newest policy version
	Drawn      bool   // what is designed is drawn from a fixed pool, which has judged it

	// Of the whole run.
	Designed, Accepted, Rejected int
	Rollouts, Dropped            int
	Steps                        int64

	// Of the iteration that is open.
	Slots, SlotsDone       int
	Expected, ExpectedDone int // rollouts of the environments accepted so far

	History []Iteration // closed iterations, oldest first
}

// Iteration is what a closed iteration came to.
type Iteration struct {
	Iteration                    int
	Designed, Accepted, Rejected int
	Rollouts                     int
	Steps                        int64
	Plain, Hinted, Regret        float64
	NoHinted                     bool    // no hinted arm was played
	NoRegret                     bool    // no environment had enough episodes for a regret
	Unlearnable                  float64 // share of gaps the guard refused to pay
	Took                         time.Duration
}

// Last is the newest closed iteration; false when there is none.
func (s State) Last() (Iteration, bool) {
	if len(s.History) == 0 {
		return Iteration{}, false
	}
	return s.History[len(s.History)-1], true
}

// share is how much of the run is done, in [0, 1]. Within an iteration the slots count a quarter and the rollouts the
// rest, which is roughly how the time is spent.
func (s State) share() float64 {
	if s.Iterations == 0 {
		return 0
	}
	part := 0.0
	if s.Slots > 0 && s.Closed < s.Iterations {
		part = 0.25 * ratio(s.SlotsDone, s.Slots)
		if s.Expected > 0 {
			part += 0.75 * ratio(s.SlotsDone, s.Slots) * ratio(s.ExpectedDone, s.Expected)
		}
	}
	return min(1, (float64(s.Closed)+part)/float64(s.Iterations))
}

func ratio(done, all int) float64 {
	if all <= 0 {
		return 0
	}
	return min(1, float64(done)/float64(all))
}
