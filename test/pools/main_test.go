package pools_test

import (
	"context"
	"os"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/gym/pools"
)

func TestMain(m *testing.M) { gymtest.Main(m) }

// start returns workers that find the installed sets, in the full sandbox.
func start(t *testing.T) *gym.Pool {
	t.Helper()
	if os.Getenv("SPADE_TEST_ENVS") == "" {
		t.Skip("SPADE_TEST_ENVS is not set: `make test-envs` installs the package sets and sets it")
	}
	packages, err := pools.Installed(t.Context(), pools.Config{})
	if err != nil {
		t.Fatal(err)
	}
	workers, err := gym.NewPool(gym.Config{Python: gym.PythonConfig{Packages: packages}}, gym.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := workers.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := workers.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return workers
}

// list returns the entries of a spec.
func list(t *testing.T, workers *gym.Pool, text string) []pools.Entry {
	t.Helper()
	spec, err := pools.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := pools.List(t.Context(), workers, spec)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// open loads the one entry that a spec names.
func open(t *testing.T, workers *gym.Pool, text string) *gym.Worker {
	t.Helper()
	w, err := workers.Open(t.Context(), list(t, workers, text)[0].Source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// reset starts one episode.
func reset(t *testing.T, w *gym.Worker, r gym.Reset) gym.Started {
	t.Helper()
	started, err := w.Reset(t.Context(), []gym.Reset{r})
	if err != nil {
		t.Fatal(err)
	}
	if started[0].Outcome != gym.Ongoing {
		t.Fatalf("reset %+v", started[0])
	}
	return started[0]
}

// step takes one action.
func step(t *testing.T, w *gym.Worker, action string) gym.Stepped {
	t.Helper()
	stepped, err := w.Step(t.Context(), []gym.Action{{Text: action}})
	if err != nil {
		t.Fatal(err)
	}
	return stepped[0]
}
