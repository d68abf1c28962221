package main

import (
	"slices"
	"testing"

	"github.com/seed256f7767/spade/consumers/scorer"
	"github.com/seed256f7767/spade/consumers/trainer"
	"github.com/seed256f7767/spade/internal/config"
)

// TestChoicesAreWhatThePackagesKnow: the settings cannot import the packages whose ways they name.
func TestChoicesAreWhatThePackagesKnow(t *testing.T) {
	for key, want := range map[string][]string{"run.estimator": scorer.Estimators(), "run.advantage": trainer.Estimators()} {
		if got := config.Choices(key); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Errorf("%s may be %v, the package knows %v", key, got, want)
		}
	}
}
