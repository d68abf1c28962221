package pools

import "github.com/seed256f7767/spade/internal/gym"

// Entry is one environment of a pool.
type Entry struct {
	// Name is the spec that means this entry alone; for a file, its path within the folder, with slashes.
	Name string
	// Source is what the gym plays. It is the same text for the same entry of the same version.
	Source gym.Source
	// Package and Version are the distribution that it comes from; empty for a file.
	Package, Version string
	// SeedFrom and SeedTo bound the env seeds that differ, both included. An adapter folds any other seed into them.
	SeedFrom, SeedTo uint64
}

// Absent is an environment of a package that cannot be an entry.
type Absent struct{ Name, Reason string }
