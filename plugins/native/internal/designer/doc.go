// Package designer is the native policy's designer: a distribution over the choices of package grammar, learned from pay.
//
// Each kind of choice is a softmax of its own. Drawing mixes in a uniform share (exploration), learning is REINFORCE on the
// exact tokens with a baseline, clipped, smoothed over neighbouring levels, and decays a little each time, so that what
// paid long ago does not bind for ever. What a design is paid is the platform's business. Begin with Model.
package designer
