package telemetry

import (
	"strings"
	"time"
)

// logSampler tells what a client of the log has done.
func logSampler(log Log) Sampler {
	return func(s Sample) {
		st := log.Stats()
		for name, n := range map[string]int64{
			LogAppended: st.Appended, LogAppendedBytes: st.AppendedBytes, LogFetched: st.Fetched, LogFetchedBytes: st.FetchedBytes,
			LogRetries: st.Retries, LogStalls: st.Stalls, LogUndecodable: st.Lost, LogCommits: st.Commits, LogRebalances: st.Rebalances,
		} {
			s.Value(name, float64(n))
		}
		s.Distribution(LogAppendTime, st.AppendTime)
	}
}

// sample tells how the process and its groups are.
func (h *health) sample(now time.Time, s Sample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Value(Draining, truth(h.draining))
	if !h.watching {
		return
	}
	s.Value(LogUp, truth(h.up(now)))
	leaders := 0
	for _, g := range h.groups {
		role := roleOf(g.Name)
		numbers := map[int32]bool{}
		for _, p := range g.Places {
			numbers[p.Partition] = true
			if role == electing {
				continue
			}
			s.Value(ConsumerLag, float64(p.Lag()), role, p.Topic)
			age := 0.0
			if !p.Oldest.IsZero() {
				age = max(0, h.looked.Sub(p.Oldest).Seconds()) // of then: it may have been processed since
			}
			s.Value(ConsumerAge, age, role, p.Topic)
		}
		s.Value(ConsumerPartitions, float64(len(numbers)), role)
		s.Value(ConsumerJoined, truth(g.Joined), role)
		s.Value(ConsumerGroups, 1, role)
		if run, of := strings.CutPrefix(g.Name, "spade."+electing+"."); of && leaders < maxRuns {
			leaders++
			s.Value(RunLeader, truth(len(numbers) > 0), run)
		}
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
