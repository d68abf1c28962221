package pools

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestOwnPython runs the tests of what the adapters bring along themselves.
func TestOwnPython(t *testing.T) {
	worker, err := filepath.Abs(filepath.Join("..", "python", "worker"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-I", "-S", "-B", filepath.Join("testdata", "own.py"), worker)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
