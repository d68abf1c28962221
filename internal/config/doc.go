// Package config is what a user can set, and where each value came from.
//
// Begin with Load: it lays flags over SPADE_* variables over a YAML file over the defaults, refuses keys it does not know
// (naming the nearest one it does), and validates the whole. Fields lists every setting with its key, variable and flag.
// Semantic turns the half that determines a run's payloads into the contract's message; the rest is deployment.
package config
