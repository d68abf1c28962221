// Package sdk turns a Trainer into a plugin process: it serves the contract of package plugins over go-plugin, drains on
// shutdown and ends with its host. A plugin's main is one call of Serve.
package sdk
