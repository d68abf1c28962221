// Package ids derives every identifier of the platform from what it identifies, so that a retry, a resumed run or a
// second worker arrives at the same one. All are UUIDv5 in the namespaces below; begin with Run, Env and Rollout.
//
// The strings that are hashed are part of the contract: changing one changes every id. The package's test pins them.
package ids
