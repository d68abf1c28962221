// Package eventview writes events for people and scripts: Line is one line of text, JSON one JSON object. Identifiers and
// hashes, which the payloads hold as bytes, are written as they are written everywhere else. Begin with Print.
package eventview
