package child

import (
	"os"
	"path/filepath"
	"testing"
)

func TestForgetLostTokens(t *testing.T) {
	data := filepath.Join(t.TempDir(), "[a]*?") // a folder may be called like a pattern
	table := filepath.Join(data, "store", "abc", "abc-def")
	for _, part := range []string{"all_1_4_1", "all_6_6_0", "2026-11_1_1_0_9", "tmp_insert_all_7_7_0", "detached/all_8_8_0", "delete_tmp_all_9_9_0"} {
		if err := os.MkdirAll(filepath.Join(table, part), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(table, "deduplication_logs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	files := map[string]struct{ before, after string }{
		"deduplication_log_1.txt": {
			"1\tall_1_1_0\ta\n1\tall_4_4_0\tb\n1\tall_5_5_0\tlost\n2\tall_5_5_0\tdropped\n1\tall_6_6_0\tc\n",
			"1\tall_1_1_0\ta\n1\tall_4_4_0\tb\n2\tall_5_5_0\tdropped\n1\tall_6_6_0\tc\n",
		},
		"deduplication_log_2.txt": {
			"1\t2026-11_1_1_0\td\n1\t2026-12_1_1_0\tlost\n1\tall_7_7_0\tlost\n1\tall_8_8_0\tlost\n1\tall_9_9_0\tlost\n1\tall_6_",
			"1\t2026-11_1_1_0\td\n",
		},
		"deduplication_log_3.txt": {"1\tall_2_3_0\te\n", "1\tall_2_3_0\te\n"},
	}
	for name, f := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(f.before), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{6, 0} { // a second repair finds nothing
		if n, err := forgetLostTokens(data); err != nil || n != want {
			t.Errorf("%d tokens were forgotten, want %d; %v", n, want, err)
		}
	}
	for name, f := range files {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != f.after {
			t.Errorf("%s: %q, want %q; %v", name, got, f.after, err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != len(files) {
		t.Errorf("left: %v, %v", left, err)
	}
}
