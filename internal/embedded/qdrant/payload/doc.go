// Package payload evaluates Qdrant's field conditions against one decoded
// payload. It knows nothing of points, indexes or storage.
//
// Begin with ParsePath and Path.Values, which find what a key like
// "facts[].name" names, and with Compile, which turns a field condition into a
// test of those values.
package payload
