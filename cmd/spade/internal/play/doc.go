// Package play lets a person play an environment by hand: it shows what the agent would see, takes actions from a terminal
// or a script, and says what they earned. Begin with Play.
package play
