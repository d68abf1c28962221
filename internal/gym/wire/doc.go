// Package wire is what the platform and a worker process say to each other: the messages of an environment's life and
// their binary form.
//
// A message is one frame ([WriteFrame], [Reader]): a length, a nonce that the platform chose for this worker, a kind and
// a body. Bodies are written field by field with an [Encoder] and read with a [Decoder], which checks every length
// against what is left before it allocates: the peer that sends these bytes may have been taken over by the code that it
// runs. Neither the frames nor the messages know which language a worker interprets.
package wire
