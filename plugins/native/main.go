// Command spade-plugin-native is the native policy as a trainer plugin: a small learner on the CPU, and the default.
// SPADE starts it; it is of no use by hand.
package main

import (
	"github.com/seed256f7767/spade/plugins/native/internal/trainer"
	"github.com/seed256f7767/spade/plugins/sdk"
)

// version of the policy: of its features, grammar and learning. It changes when the same run would come out otherwise.
const version = "1.1.0"

func main() { sdk.Serve(trainer.New(version)) }
