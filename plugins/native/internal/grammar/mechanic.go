package grammar

// mechanic is one kind of task.
type mechanic struct {
	name  string
	kind  string // of META, when it stands alone with plain actions
	title []string
	build func(b *builder) stage
}

// stage is one mechanic written out. Its code defines, with the suffix name:
//
//	make_name()       the stage's part of the state: a dict with goal and left beside its own
//	view_name(g)      the lines that the agent sees
//	moves_name(g)     the legal moves, each a pair of a verb and a value
//	play_name(g, m)   the stage after a move
//	won_name(g)       how much of goal is reached, judged from the state alone
//	plan_name(g)      the moves that reach the goal
type stage struct {
	name string
	code string
	left int  // moves that it allows
	quiz bool // every move must win, so that a limit on misses makes sense
}

func mechanics() []mechanic {
	return []mechanic{
		{"lookup", "reasoning", []string{"Card index", "Fact file", "Reference desk"}, lookup},
		{"links", "reasoning", []string{"Linked notes", "Paper trail", "Two ledgers"}, links},
		{"extreme", "reasoning", []string{"Measured values", "Ranking", "Readings"}, extreme},
		{"running", "reasoning", []string{"Running total", "Counter", "Tally"}, running},
		{"rules", "reasoning", []string{"Sorting office", "House rules", "Routing"}, rules},
		{"exclude", "reasoning", []string{"Process of exclusion", "Short list", "What remains"}, exclude},
		{"trust", "reasoning", []string{"Reliable sources", "Reports", "Testimony"}, trust},
		{"recall", "reasoning", []string{"Memory test", "Once only", "From memory"}, recall},
		{"supply", "game", []string{"Stores", "Expedition", "Supplies"}, supply},
		{"sequence", "reasoning", []string{"Procedure", "In sequence", "Recitation"}, sequence},
		{"arrange", "reasoning", []string{"Arrangement", "In order", "Queue"}, arrange},
		{"bisect", "game", []string{"Hidden value", "Calibration", "Narrowing"}, bisect},
		{"grid", "game", []string{"Survey walk", "Field trip", "Crossing"}, grid},
		{"doors", "game", []string{"Locked rooms", "Passage", "Gates"}, doors},
		{"calls", "tools", []string{"Operations", "Checklist", "Protocol"}, calls},
		{"form", "tools", []string{"Registration", "Record entry", "Filing"}, form},
		{"vault", "game", []string{"Sealed box", "Unknown code", "Strong room"}, vault},
	}
}
