package gym

import "testing"

func TestRuntimeOfFile(t *testing.T) {
	for name, want := range map[string]string{
		"a.py": RuntimePython, "UP.PY": RuntimePython, "deep/a.star": RuntimeStarlark, "a.b.Star": RuntimeStarlark,
		"py": "", "a.pyc": "", "a.py.txt": "", "": "",
	} {
		if got := RuntimeOfFile(name); got != want {
			t.Errorf("RuntimeOfFile(%q) = %q, want %q", name, got, want)
		}
	}
	for _, runtime := range Runtimes() {
		if got := RuntimeOfFile("a" + Suffix(runtime)); got != runtime {
			t.Errorf("a file of %s is one of %q", runtime, got)
		}
	}
}
