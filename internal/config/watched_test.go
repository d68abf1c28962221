package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/config"
)

func TestHowAProcessIsWatchedIsChecked(t *testing.T) {
	for name, tc := range map[string]struct {
		set string
		ok  bool
	}{
		"an address":               {"SPADE_METRICS_LISTEN=127.0.0.1:9464", true},
		"a port on every address":  {"SPADE_METRICS_LISTEN=:9464", true},
		"no port":                  {"SPADE_METRICS_LISTEN=localhost", false},
		"an empty port":            {"SPADE_METRICS_LISTEN=localhost:", false},
		"a collector":              {"SPADE_TRACE_ENDPOINT=http://localhost:4318", true},
		"a collector without http": {"SPADE_TRACE_ENDPOINT=localhost:4318", false},
		"a password":               {"SPADE_TRACE_ENDPOINT=https://me:canary@collector", false},
		"no time to drain":         {"SPADE_DRAIN=0", false},
		"a minute to drain":        {"SPADE_DRAIN=60", true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Load(config.Sources{Environ: []string{tc.set}})
			if (err == nil) != tc.ok || err != nil && !errors.Is(err, config.ErrInvalid) {
				t.Errorf("%s: %v", tc.set, err)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error tells a password: %v", err)
			}
		})
	}
}
