// Package supervisor is the process that runs the embedded servers of one data
// folder, for as long as any client holds a lease.
//
// Begin at Main, its entry point. A client starts it with Command; it detaches
// into a session of its own, so that it outlives the client, takes the folder's
// lock, opens the socket that package wire describes and says so on its
// standard output. Servers start when a client first wants them. One that dies
// is started again, with growing pauses, at the address it had. A folder that
// an earlier supervisor's server still holds is waited for, and that server is
// ended.
//
// Kafka and Qdrant run inside the process, ClickHouse as its child. However the
// process ends, they end with it; the kernel gives the lock back, and the next
// client starts another supervisor that finds what was acknowledged.
package supervisor
