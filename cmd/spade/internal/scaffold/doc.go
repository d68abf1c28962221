// Package scaffold holds the sources that `spade env new` begins an environment with: small examples whose comments explain
// every part to their author, and which pass the acceptance gate as they are. Begin with Source and Write.
package scaffold
