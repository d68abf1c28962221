// Package doctor finds out whether this machine can run the platform, and what to do where it cannot. A Check looks at one
// thing; Run makes them all and writes what they found.
package doctor
