package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins/native/internal/trainer"
	"github.com/seed256f7767/spade/plugins/plugintest"
	"github.com/seed256f7767/spade/schemas/training"
)

var update = flag.Bool("update", false, "record what this version writes and learns")

// What the policy writes and chooses, before and after training, belongs to its version: runs pin the version and promise the
// same log for it.
func TestAnotherBehaviourIsAnotherVersion(t *testing.T) {
	got := version + " " + behaviour(t)
	path := filepath.Join("testdata", "behaviour.txt")
	want, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	recorded := strings.TrimSpace(string(want))
	if recorded == got {
		return
	}
	if strings.HasPrefix(recorded, version+" ") {
		t.Fatalf("the policy behaves otherwise than version %s did: raise the version, then run this with -update", version)
	}
	if !*update {
		t.Fatalf("recorded is %q; run this with -update", recorded)
	}
	if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// behaviour is a digest of texts only: likelihoods may differ in their last bits between architectures.
func behaviour(t *testing.T) string {
	t.Helper()
	tr, sum := trainer.New(version), sha256.New()
	if _, err := tr.Open(t.Context(), "", 0, nil); err != nil {
		t.Fatal(err)
	}
	for v := range int64(3) {
		rows := plugintest.AgentRows(200)
		answers := func(role policy.Role, prompts []policy.Prompt) {
			err := tr.Generate(t.Context(), role, v, prompts, func(cs []policy.Completion) error {
				for i, c := range cs {
					fmt.Fprintf(sum, "%d:%s", len(c.Text), c.Text)
					if role == policy.Designer {
						rows = append(rows, training.Row{
							Role: training.RoleDesigner, EnvID: c.ID, Completion: c.Text, TokenIDs: c.TokenIDs, Logprobs: c.Logprobs,
							Reward: float64(i%3) / 2, Advantage: float64(i%3) - 1,
						})
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		answers(policy.Designer, plugintest.DesignerPrompts(24))
		answers(policy.Agent, plugintest.AgentPrompts(64))
		if _, err := tr.Train(t.Context(), v, v+1, plugintest.Batches(t, 0, rows)); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}
