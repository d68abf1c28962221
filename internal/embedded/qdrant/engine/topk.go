package engine

import "slices"

// scored is a candidate of a search; a greater rank is better whatever the
// distance.
type scored struct {
	rank float32
	slot uint32
}

// topK keeps the k best candidates: a heap whose root is the worst one kept.
type topK struct {
	ids  []ID // to break ties, the same at every run
	k    int
	heap []scored
}

// better orders candidates: higher rank, then lower id.
func (t *topK) better(a, b scored) bool {
	if a.rank != b.rank {
		return a.rank > b.rank
	}
	return t.ids[a.slot].compare(t.ids[b.slot]) < 0
}

// offer takes a candidate in if it is among the best so far.
func (t *topK) offer(s scored) {
	if len(t.heap) < t.k {
		t.heap = append(t.heap, s)
		t.up(len(t.heap) - 1)
		return
	}
	if t.k > 0 && t.better(s, t.heap[0]) {
		t.heap[0] = s
		t.down(0)
	}
}

func (t *topK) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.better(t.heap[parent], t.heap[i]) {
			return
		}
		t.heap[parent], t.heap[i] = t.heap[i], t.heap[parent]
		i = parent
	}
}

func (t *topK) down(i int) {
	for {
		worst := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(t.heap) && t.better(t.heap[worst], t.heap[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}

// best returns what was kept, best first.
func (t *topK) best() []scored {
	slices.SortFunc(t.heap, func(a, b scored) int {
		if t.better(a, b) {
			return -1
		}
		return 1
	})
	return t.heap
}
