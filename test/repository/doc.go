// Package repository holds tests of the repository itself: which package may import which, that every package says what
// it is for, that the documentation names only what is there, and that the production services are pinned and checked.
package repository
