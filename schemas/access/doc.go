// Package access says which topics and consumer groups each role of the platform needs, and no more: the ACLs of a cluster
// where each role has a user of its own. Begin with Roles.
package access
