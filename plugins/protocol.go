package plugins

import "github.com/hashicorp/go-plugin"

// Limits of the wire, the same on both sides.
const (
	// ChunkBytes is the largest piece that a stream of bytes is cut into.
	ChunkBytes = 1 << 20
	// MaxMessageBytes is the largest single message: room for one prompt of very many long turns.
	MaxMessageBytes = 128 << 20
	// MaxCheckpointBytes is the largest checkpoint that travels in a stream; a larger one has a location.
	MaxCheckpointBytes = 1 << 30
)

// ProtocolVersion is negotiated by the handshake; a change that an old plugin cannot follow raises it.
const ProtocolVersion = 1

// Name is the name under which a plugin serves its trainer.
const Name = "trainer"

// Handshake tells a plugin that it was started by a host and not by hand. It is no secret.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   "SPADE_TRAINER_PLUGIN",
		MagicCookieValue: "5f0f6a52-trainer",
	}
}
