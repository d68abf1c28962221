// Package plugins is the contract between SPADE and a trainer plugin: the process that generates for both roles and
// learns from Arrow batches. plugins/proto holds the messages, this package the Go types that both sides share and the
// error classes that cross the wire.
//
// Begin with plugins/host to run a plugin, with plugins/sdk to write one in Go, and with plugins/plugintest for the
// conformance suite that every plugin must pass. What the messages alone do not say:
//
//   - A plugin is started by hashicorp/go-plugin's handshake, protocol version 1, over gRPC on a unix socket in a private
//     folder. Nothing may be printed to standard output before the handshake line.
//   - Bytes travel in chunks of at most 1 MiB. A stream of chunks ends with an end mark that counts bytes, and for Arrow
//     also rows and record batches; a stream without it, or with other counts, is an error and never a short answer.
//   - Every error status carries a Failure detail, whose oneof is the class.
//   - Generate is a function of (role, version, prompt): how prompts are batched changes nothing.
//   - Train is a function of (checkpoint of the version it learns from, batches in order). Repeating it gives the same
//     bytes, for a plugin with the capability "deterministic".
//   - Shutdown lets calls in progress end, then the process exits. The host follows with TERM and KILL of the group.
package plugins
