// Package processes finds the program's processes from outside, as tests that kill them need: by what /proc says of their
// arguments and parents. Begin with All.
package processes
