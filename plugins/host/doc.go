// Package host runs a trainer plugin as a child process and speaks the contract of package plugins with it. Begin with
// Launch; the Plugin that it returns is a policy.Generator, and the trainer's other half.
//
// The child gets an argument list (no shell), an environment of named variables only, no standard input, its own process
// group and a unix socket in a folder that nobody else may enter. It dies with this process. Shutdown asks first, then
// sends TERM, then KILL to the group.
package host
