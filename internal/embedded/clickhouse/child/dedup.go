package child

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MergeTree writes an insert's deduplication token to its log before it puts the rows in place. A process that is
// killed between the two leaves a token without rows, and the retry of that insert, which nobody acknowledged, is then
// dropped as a duplicate: its rows are lost. So before the engine opens the folder, tokens whose rows are not there
// are taken out. It has to happen at the first start after the kill, since the part's number is given out again.

// forgetLostTokens repairs the deduplication logs of every table in the engine's folder, and counts the tokens taken out.
func forgetLostTokens(data string) (forgotten int, err error) {
	// The folder is no part of the pattern: its name may hold what a pattern gives a meaning to.
	logs, err := fs.Glob(os.DirFS(data), "store/*/*/deduplication_logs/deduplication_log_*.txt")
	if err != nil {
		return 0, fmt.Errorf("look for deduplication logs: %w", err)
	}
	for _, name := range logs {
		path := filepath.Join(data, filepath.FromSlash(name))
		n, err := repairLog(path)
		if err != nil {
			return forgotten, fmt.Errorf("repair %s: %w", path, err)
		}
		forgotten += n
	}
	return forgotten, nil
}

func repairLog(path string) (forgotten int, err error) {
	parts, err := partsOf(filepath.Dir(filepath.Dir(path)))
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return 0, err
	}
	var kept bytes.Buffer
	for line := range bytes.Lines(text) {
		if lost(string(line), parts) {
			forgotten++
			continue
		}
		kept.Write(line)
	}
	if forgotten == 0 {
		return 0, nil
	}
	next := path + ".new" // not a name that the engine reads
	if err := os.WriteFile(next, kept.Bytes(), 0o600); err != nil {
		return 0, err
	}
	return forgotten, os.Rename(next, path)
}

// part is the range of inserts that a folder of rows holds; merging widens it.
type part struct {
	partition string
	min, max  int64
}

// partsOf lists the parts of a table's folder. Detached ones are not among them: their rows cannot be read.
func partsOf(table string) ([]part, error) {
	entries, err := os.ReadDir(table)
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, e := range entries {
		if p, ok := parsePart(e.Name()); ok && e.IsDir() {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// parsePart reads a name of the form partition_min_max_level or partition_min_max_level_mutation.
func parsePart(name string) (part, bool) {
	fields := strings.Split(name, "_")
	if len(fields) != 4 && len(fields) != 5 {
		return part{}, false
	}
	p := part{partition: fields[0]}
	var err1, err2 error
	p.min, err1 = strconv.ParseInt(fields[1], 10, 64)
	p.max, err2 = strconv.ParseInt(fields[2], 10, 64)
	return p, err1 == nil && err2 == nil
}

// lost tells whether a line of the log adds a token whose rows are in none of the parts, or was cut while it was written.
func lost(line string, parts []part) bool {
	fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
	if !strings.HasSuffix(line, "\n") || len(fields) != 3 {
		return true
	}
	const added = "1"
	p, ok := parsePart(fields[1])
	if fields[0] != added || !ok {
		return false
	}
	for _, have := range parts {
		if have.partition == p.partition && have.min <= p.min && p.max <= have.max {
			return false
		}
	}
	return true
}
