// Package pools imports environments of every package set through the real sandboxed workers and the real gate. It
// runs where SPADE_TEST_ENVS is set, after `spade env install all`: see `make test-envs`.
package pools
