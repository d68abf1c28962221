// Package plugintest holds the conformance suite that every trainer plugin must pass, and a small plugin that does nothing
// but follow the contract. Begin with Run.
package plugintest
