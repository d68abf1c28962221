// Package remote lets processes on several machines share one policy: a Server answers Generate for many runs over the
// plugin contract's gRPC, and a Client asks it for one run. Begin with NewServer and Dial.
//
// A call names its run in the metadata spade-run and proves itself by a token that both sides were given. Nothing but
// Generate and Info is served: training and checkpoints are the business of the run's leader.
package remote
