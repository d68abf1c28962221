// Package rollout plays accepted environments: every env seed, every repeat, without and with the hint, each arm in a
// fresh worker of its own, and appends one event per episode. Begin with Player.Handler, which plays what a
// partition accepts.
package rollout
