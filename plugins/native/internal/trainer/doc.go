// Package trainer makes a plugin of the native policy: it keeps the loaded versions, generates for both roles, learns from
// training batches and writes checkpoints. Begin with New.
package trainer
