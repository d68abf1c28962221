// Package stats names the statistics of EnvironmentAccepted that one side writes and the other reads. The acceptance gate
// adds others, which are for people.
package stats

const (
	// HiddenShare is the share of env seeds whose reference solution acts on a fact that no observation holds, in [0, 1].
	HiddenShare = "hidden_share"
	// KindShare is the share of the recent accepted designs that are of one kind with this one, in [0, 1].
	KindShare = "kind_share"
	// HintBytes is the size of the longest hint that was seen, 0 where the environment gives none.
	HintBytes = "hint_bytes"
)
