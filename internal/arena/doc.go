// Package arena is an allocator of Arrow buffers that uses the memory of released ones again: a sink that builds a batch every
// second would otherwise have the kernel clear, and the garbage collector sweep, as much memory again and again. Begin with
// New.
package arena
