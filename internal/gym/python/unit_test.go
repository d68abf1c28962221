package python_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym/python/pythontest"
)

// TestUnits runs the worker's own tests.
func TestUnits(t *testing.T) {
	worker, err := filepath.Abs("worker")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pythontest.Interpreter(t).Path, "-B", "-s", "-X", "utf8", "-m", "unittest", "discover", "-s", "test")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+worker)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\nOK") {
		t.Errorf("%v\n%s", err, out)
	}
}
