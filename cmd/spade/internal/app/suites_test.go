package app

import (
	"strings"
	"testing"
)

func TestTwoSuitesOfOneNameAreRefused(t *testing.T) {
	const folder = "../../../../examples/suites"
	tasks, names, err := LoadTasks([]string{folder})
	must(t, err)
	if len(tasks) == 0 || len(names) == 0 {
		t.Fatalf("%d tasks of %d suites", len(tasks), len(names))
	}
	if _, _, err = LoadTasks([]string{folder, folder}); err == nil || !strings.Contains(err.Error(), "another suite") {
		t.Errorf("error %v", err)
	}
}
