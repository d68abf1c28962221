package ids

import (
	"strconv"
	"strings"
	"testing"
)

// The ids are part of the contract: a log written today must be found again by every later version.
func TestIDsNeverChange(t *testing.T) {
	run := Run("demo")
	env := Env(run, 3, 2, 1)
	for name, tc := range map[string]struct{ got, want string }{
		"run":          {run.String(), "38f836dc-203e-5c45-acbf-24e66052c5f5"},
		"env":          {env.String(), "812f2327-be8f-5d73-8f05-97449cb440b4"},
		"rollout":      {Rollout(env, ArmHinted, 1, 2).String(), "e16beb12-f84c-5895-b0c5-cc9f06c22e7e"},
		"group":        {Group(env, ArmPlain, 1).String(), "1424cdae-5b21-5fde-8126-bd9e76cb4e17"},
		"design group": {DesignGroup(run, 3).String(), "f34a6682-ea78-5cb0-b647-2e68127dee36"},
		"batch":        {Batch(run, 3, "agent").String(), "ab4adbc2-1b44-5e18-9ef3-a838242e12ff"},
		"evaluation":   {Evaluation(run, 2, "development", "math/x", 1).String(), "1ee85970-9ddd-5f3a-bf9e-35e13c3255ce"},
		"document":     {Document([]byte{1, 2, 3}).String(), "093c4577-845b-5975-876c-e172d279558e"},
		"point":        {Point("environment", env).String(), "08f5e9c5-36ca-55cc-95cd-d310f1773813"},
		"policy":       {Policy(run, -1).String(), "269532a5-321d-53f6-a7cf-a401800d9cd8"},
		"iteration":    {Iteration(run, 0).String(), "52678a1a-ee66-54cd-9a98-bf7a78f48a07"},
		"event":        {Event("spade.v1.RunStarted", run, 0).String(), "71c5e5f4-69a9-5729-9996-c3b2997b48e1"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %s, want %s", tc.got, tc.want)
			}
		})
	}
}

func TestDifferentThingsHaveDifferentIDs(t *testing.T) {
	run := Run("demo")
	seen := map[string]bool{}
	add := func(id string) {
		if seen[id] {
			t.Errorf("%s twice", id)
		}
		seen[id] = true
	}
	for i := range 12 {
		for s := range 12 {
			env := Env(run, i, s, 0)
			add(env.String())
			add(Env(run, i, s, 1).String())
			add(Rollout(env, ArmPlain, i, s).String())
			add(Rollout(env, ArmHinted, i, s).String())
		}
	}
}

// What is worked out without garbage is what derive says.
func TestIDsOfManyThingsAreDerivedLikeTheOthers(t *testing.T) {
	run := Run("demo")
	env := Env(run, 0, 0, 0)
	for _, arm := range []string{ArmPlain, ArmHinted, "", strings.Repeat("long ", 100)} {
		for _, n := range []int{0, -1, 7, 1 << 40} {
			text := strconv.Itoa(n)
			if got, want := Env(run, n, 1, 2), derive("env", run.String(), text, "1", "2"); got != want {
				t.Errorf("environment %d: %s, want %s", n, got, want)
			}
			if got, want := Rollout(env, arm, 3, n), derive("rollout", env.String(), arm, "3", text); got != want {
				t.Errorf("rollout %.20q %d: %s, want %s", arm, n, got, want)
			}
			if got, want := Group(env, arm, n), derive("group", env.String(), arm, text); got != want {
				t.Errorf("group %.20q %d: %s, want %s", arm, n, got, want)
			}
			if got, want := Event(arm, run, n), derive("event", arm, run.String(), text); got != want {
				t.Errorf("event %.20q %d: %s, want %s", arm, n, got, want)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { Group(Rollout(Env(run, 1, 2, 3), ArmPlain, 4, 5), ArmHinted, 6) }); n != 0 {
		t.Errorf("%v pieces of garbage", n)
	}
}
