// Package rebuild makes the memory anew from the first record of the log, in collections beside the live ones, and switches to
// them. Begin with New and Memory.Run.
package rebuild
