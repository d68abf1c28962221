// Package interp runs one Starlark environment: it loads a source in the functional form and plays episodes of it.
//
// It runs inside a worker process and trusts nothing that the source returns: [Load] and the methods of [Env] check every
// value and turn what goes wrong into a wire.Fault. What the source is given is fixed here too: the predeclared modules
// rng, text, json and math, whose functions are specified so that another language can offer the same ones, and `len`,
// which counts code points.
//
// The state of an episode is a JSON value. What a function returns as the state is written as canonical JSON
// ([Canonical]) and copied in that form; the next call gets the copy. So nothing but the JSON value survives from call to
// call: no shared lists, no tuples, and dictionaries in the order of their keys.
package interp
