// Package play plays episodes: an environment's worker on one side, a policy on the other, many episodes side by side so
// that every step is one message to each. Begin with Play.
package play
