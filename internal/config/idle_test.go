package config_test

import (
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/config"
)

func TestSettingsWithoutEffectAreNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		flags map[string]string
		want  string
	}{
		"none":            {map[string]string{"run.hint_budget": "3", "run.seed": "9"}, ""},
		"the default":     {map[string]string{"run.no_hint_arm": "true", "run.hint_budget": "0"}, ""},
		"no hinted arm":   {map[string]string{"run.no_hint_arm": "true", "run.hint_budget": "3"}, "--hint-budget"},
		"no suites":       {map[string]string{"run.eval_every": "3"}, "--eval-every"},
		"fixed":           {map[string]string{"run.designer": "fixed:x", "run.runtime": "python", "run.pay.novelty": "1", "run.designs": "3"}, "--runtime --pay-novelty"},
		"no grounding":    {map[string]string{"run.ablations": "grounding", "corpus": "x", "run.recalled_per_design": "5"}, "--corpus"},
		"no deviation":    {map[string]string{"run.advantage": "rloo", "run.advantage_ddof": "0"}, "--advantage-ddof"},
		"embedded broker": {map[string]string{"kafka.tls": "true", "kafka.prefix": "a.", "kafka.fsync": "true"}, "--kafka-tls --kafka-prefix"},
		"a folder":        {map[string]string{"checkpoints": "x", "s3.region": "r"}, "--s3-region"},
		"a cluster":       {map[string]string{"kafka.brokers": "a:1", "kafka.ca": "ca.pem", "kafka.fsync": "true"}, "--kafka-ca --kafka-fsync"},
	} {
		l, err := config.Load(config.Sources{Flags: tc.flags})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range l.Idle() {
			if s.Because == "" {
				t.Errorf("%s: no reason for %s", name, s.Key)
			}
			got = append(got, s.Where)
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%s: %q, want %q", name, text, tc.want)
		}
	}
}

// Each rule names settings that there are.
func TestEveryIdleSettingExists(t *testing.T) {
	known := map[string]bool{}
	for _, f := range config.Fields() {
		known[f.Key] = true
		if i := strings.LastIndex(f.Key, "."); i > 0 {
			known[f.Key[:i+1]] = true
		}
	}
	for _, key := range config.IdleKeys() {
		if !known[key] {
			t.Errorf("%s is no setting", key)
		}
	}
}
