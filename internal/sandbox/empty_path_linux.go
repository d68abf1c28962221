package sandbox

import (
	"crypto/rand"
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// Where emptyPath looks for a place: above what is near to the program and its data, and in the least address space that a
// 64-bit kernel gives a process, which is that of arm64 with small pages and three levels of tables. It is tried after the
// usual one.
const (
	leastAddress = 1 << 32
	wideAddress  = 1 << 46
	smallAddress = 1 << 38
	placeTries   = 64
)

// emptyPath returns the address of an empty text that nobody can guess. No pointer to it is kept anywhere but by the caller,
// and the page is only read, so that no limit on memory counts it.
func emptyPath() (uintptr, error) {
	size := uint64(unix.Getpagesize())
	var err error
	for try := range placeTries {
		limit := uint64(wideAddress)
		if try >= placeTries/2 {
			limit = smallAddress
		}
		var random [8]byte
		if _, err := rand.Read(random[:]); err != nil {
			return 0, err
		}
		address := leastAddress + binary.NativeEndian.Uint64(random[:])%(limit-leastAddress)
		page := address &^ (size - 1)
		got, _, errno := unix.RawSyscall6(unix.SYS_MMAP, uintptr(page), uintptr(size), unix.PROT_READ,
			unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE, ^uintptr(0), 0)
		switch {
		case errno != 0: // taken, or more than this machine has
			err = errno
		case got != uintptr(page): // before Linux 4.17 the place is only a wish
			_, _, _ = unix.RawSyscall(unix.SYS_MUNMAP, got, uintptr(size), 0)
			err = errors.New("the place is taken")
		default:
			return uintptr(address), nil // a new page is full of zeros, each of which ends a text
		}
	}
	return 0, err
}
