// Package endpoints finds the services that a command works on: those that the configuration names, and for the others the
// embedded servers of the data folder, which it keeps running until Close. Begin with Connect.
package endpoints
