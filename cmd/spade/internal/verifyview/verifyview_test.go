package verifyview

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/consumers/verify"
	"github.com/seed256f7767/spade/consumers/warehouse/audit"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs, got:\n%s", path, got)
	}
}

// damaged is a verification that found something of everything.
func damaged() app.Verification {
	id := uuid.MustParse("38f836dc-203e-5c45-acbf-24e66052c5f5")
	at := verify.Place{Topic: "spade.rollouts", Partition: 3, Offset: 17}
	return app.Verification{
		Counts: verify.Counts{
			Records: 12, ByType: map[string]int64{"RunStarted": 1, "RolloutCompleted": 11}, Repeated: 1, RepeatedOther: 2, VoidUpdates: 1,
			Nondeterministic: 3, Retried: 1,
		},
		Runs: []verify.RunState{{
			ID: id, Name: "demo\x1b[2J", Kind: "train", Status: "running", Designed: 3, Accepted: 1, Rejected: 1, Rollouts: 11,
			Versions: 1, InFlight: verify.InFlight{Designs: 1, Rollouts: 5},
		}},
		Tables: []audit.Count{{Table: "rollouts", Log: 11, Warehouse: 10}, {Table: "steps", Log: 1200, Warehouse: 1200}},
		Keys:   3,
		Memory: app.MemoryCounts{Environments: 1, Documents: 2, Withdrawn: 1, Pending: 1}, Checkpoints: app.CheckpointCounts{Inline: 1, Bytes: 99},
		Letters: []verify.Letter{{ID: id, Place: at, Key: "k", Consumer: "warehouse", Error: "too\x1b[2J large"}},
		Behind:  []string{"the warehouse lacks the last 4 records of the log"}, Live: true,
		Differences: []verify.Finding{
			{Area: verify.AreaLog, Kind: "dead letter", Subject: id.String(), Detail: "warehouse could not apply it: too\x1b[2J large"},
			{Area: verify.AreaWarehouse, Kind: audit.Missing, Subject: "rollouts", Detail: "of a key"},
		},
		Total: 151, Sums: []verify.Sum{{Area: verify.AreaLog, Kind: "dead letter", Count: 1}, {Area: verify.AreaWarehouse, Kind: audit.Missing, Count: 150}},
	}
}

func TestWrite(t *testing.T) {
	for name, v := range map[string]struct {
		view View
		of   app.Verification
	}{
		"damaged.golden": {View{}, damaged()},
		"equal.golden":   {View{}, app.Verification{Counts: verify.Counts{ByType: map[string]int64{}}}},
		"log.golden":     {View{Areas: []string{verify.AreaLog}}, app.Verification{Counts: verify.Counts{Records: 1}}},
		"as-is.golden":   {View{Areas: []string{verify.AreaLog}}, app.Verification{AsIs: true, Behind: []string{"the memory has not come to 1 of its points"}}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			v.view.Out = &out
			if err := v.view.Write(v.of); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), "\x1b") {
				t.Errorf("a terminal would obey %q", out.String())
			}
			golden(t, name, out.String())
		})
	}
}

func TestWriteJSON(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, damaged()); err != nil {
		t.Fatal(err)
	}
	golden(t, "damaged.json", out.String())
	var back map[string]any
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["ok"] != false || back["differences_total"] != 151.0 {
		t.Errorf("%v, %v", back, err)
	}
	out.Reset()
	if err := WriteJSON(&out, app.Verification{}); err != nil || strings.Contains(out.String(), "null,\n  \"differences") || !strings.Contains(out.String(), `"ok": true`) {
		t.Errorf("%v %s", err, out.String())
	}
}
