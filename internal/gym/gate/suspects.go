package gate

import (
	"regexp"
	"strings"

	"github.com/seed256f7767/spade/internal/gym"
)

// suspects are what differs between two processes whose surroundings are the same, by how a source names it. No
// experiment tells them apart, so they are a hint to the author and decide nothing.
var suspects = [...]struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\burandom\b|\bgetrandom\b`), "os.urandom"},
	{regexp.MustCompile(`\buuid[14]?\b`), "uuid"},
	{regexp.MustCompile(`\bsecrets\.|import secrets\b`), "secrets"},
	{regexp.MustCompile(`\bSystemRandom\b`), "random.SystemRandom"},
	{regexp.MustCompile(`\bdefault_rng\b`), "numpy.random.default_rng without a seed"},
	{regexp.MustCompile(`\bRandom\(\s*\)`), "random.Random() without a seed"},
	{regexp.MustCompile(`(?:^|[^.\w])id\(`), "id(), an address"},
	{regexp.MustCompile(`(?:^|[^.\w])hash\(|__hash__`), "the hash or the order of objects, an address"},
	{regexp.MustCompile(`(?:^|[^.\w])repr\(|!r\}|\bobject\(\)`), "the text of an object, which may hold its address"},
	{regexp.MustCompile(`\bthread(?:ing)?\b|\bconcurrent\b|\basyncio\b`), "threads"},
	{regexp.MustCompile(`\bgetpid\b|\bgetppid\b|\bget_ident\b`), "process and thread numbers"},
	{regexp.MustCompile(`\bperf_counter|\bmonotonic|\bprocess_time|\bthread_time|\bgetrusage\b|\bos\.times\(`), "time that has passed"},
	{regexp.MustCompile(`\bgc\b|\bweakref\b|__del__`), "when objects are collected"},
	{regexp.MustCompile(`\btempfile\b`), "names of temporary files"},
}

// unnamed is the cause when not even equal surroundings make a source repeat itself.
func (s *session) unnamed() string {
	const cause = "something that differs from process to process even where seeds, clock and surroundings are the same"
	if s.src.Runtime != gym.RuntimePython {
		return cause
	}
	var named []string
	for _, suspect := range suspects {
		if suspect.pattern.MatchString(s.src.Code) {
			named = append(named, suspect.name)
		}
	}
	if len(named) == 0 {
		return cause + ", such as an address (id), the operating system's random numbers, threads or process numbers"
	}
	return cause + "; the source uses " + strings.Join(named, ", ")
}
