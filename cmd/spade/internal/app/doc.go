// Package app wires producers, consumers and the embedded services into what the commands do. It holds no logic of the
// loop itself.
//
// Begin with Open, which connects to the services, and Services.Run, a whole run: it ingests the corpus, opens or takes
// up the run, starts every role on the log, leads, and waits for the projections.
package app
