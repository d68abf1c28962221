//go:build linux

package chaos

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// build makes the program and the native plugin beside it, unless a folder of them is named.
func build(t *testing.T, s settings) (bin string) {
	t.Helper()
	if s.bin != "" {
		bin, err := filepath.Abs(filepath.Join(s.bin, "spade"))
		if err != nil {
			t.Fatal(err)
		}
		return bin
	}
	dir := t.TempDir()
	for name, pkg := range map[string]string{"spade": "./cmd/spade", "spade-plugin-native": "./plugins/native"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	return filepath.Join(dir, "spade")
}
