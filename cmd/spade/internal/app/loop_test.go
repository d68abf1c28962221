package app

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/producers/corpus"
)

func TestACorpusThatIsNotThereIsRefused(t *testing.T) {
	there, missing := t.TempDir(), filepath.Join(t.TempDir(), "missing")
	if err := present([]string{there, missing}); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v", err)
	}
	if err := present([]string{there}); err != nil {
		t.Error(err)
	}
}

func TestWhatIsPassedOverIsNamed(t *testing.T) {
	var out bytes.Buffer
	s := &Services{Log: slog.New(slog.NewTextHandler(&out, nil))}
	sum := corpus.Summary{ProblemCount: 12}
	for range sum.ProblemCount {
		sum.Problems = append(sum.Problems, &corpus.Problem{Path: "bad.jsonl", Line: 2, Class: corpus.ErrMalformed})
	}
	if ids, err := s.grounding([]string{"docs"}, sum); err == nil || !strings.Contains(err.Error(), "docs") {
		t.Errorf("a corpus without a document gave %v, %v", ids, err)
	}
	if got := out.String(); strings.Count(got, "bad.jsonl:2") != 10 || !strings.Contains(got, "problems=2") {
		t.Errorf("%s", got)
	}
	sum.IDs = []uuid.UUID{uuid.Max}
	if ids, err := s.grounding([]string{"docs"}, sum); err != nil || len(ids) != 1 {
		t.Errorf("got %v, %v", ids, err)
	}
}
