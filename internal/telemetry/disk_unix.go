//go:build unix

package telemetry

import "golang.org/x/sys/unix"

// sampleDisk tells the space of the file system that a folder is on. One that cannot be asked, as it is not there yet, tells
// nothing.
func sampleDisk(folder string, s Sample) {
	var st unix.Statfs_t
	if folder == "" || unix.Statfs(folder, &st) != nil {
		return
	}
	size := float64(st.Bsize)
	s.Value(DataFree, float64(st.Bavail)*size)
	s.Value(DataSize, float64(st.Blocks)*size)
}
