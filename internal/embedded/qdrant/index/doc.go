// Package index is the payload index of the embedded vector server: which
// points hold a value under a key, and which values a point holds.
//
// Begin with Field. It keeps both directions, so that a filter can start from
// the few points of a run and judge its other conditions on them without
// reading a payload from disk. Values are interned: a point costs four bytes a
// key.
package index
