package outage

import (
	"bytes"
	"log/slog"
	"regexp"
	"strings"
	"testing"
)

func TestTheFirstFailureAndTheFirstSuccessAreTold(t *testing.T) {
	var o Outage
	if _, over := o.End(); over {
		t.Error("an outage is over that never began")
	}
	for range 2 { // it may come again
		if !o.Begin() || o.Begin() || o.Begin() {
			t.Error("not the first failure alone is told")
		}
		if lasted, over := o.End(); !over || lasted < 0 {
			t.Errorf("the end is not told, or lasted %s", lasted)
		}
		if _, over := o.End(); over {
			t.Error("the end is told twice")
		}
	}
}

func TestTriesAreTwoLinesAndOneForEveryClass(t *testing.T) {
	var log bytes.Buffer
	tries := Tries{Log: slog.New(slog.NewTextHandler(&log, nil)), Failed: "again", Worked: "at last"}
	tries.Succeeds(t.Context())
	for _, class := range []int{1, 1, 2, 2} {
		tries.Fails(t.Context(), class, "class", class)
	}
	tries.Succeeds(t.Context(), "step", "plan")
	tries.Succeeds(t.Context())
	got := regexp.MustCompile(`time=\S+ |after=\S+`).ReplaceAllString(strings.TrimSpace(log.String()), "")
	want := "level=WARN msg=again class=1\nlevel=WARN msg=again class=2\nlevel=INFO msg=\"at last\" step=plan "
	if got != want {
		t.Errorf("the log:\n%s\nwant:\n%s", got, want)
	}
}
