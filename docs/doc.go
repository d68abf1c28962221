// Package docs holds the documentation for users and the tests that keep it true: links lead somewhere, files and packages
// that are named exist, and every SQL example runs on the embedded engine with the warehouse's own definitions.
package docs
