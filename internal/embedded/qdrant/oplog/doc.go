// Package oplog is the append-only file under a collection of the embedded
// vector server: records with a length and checksums, read back on open.
//
// Begin with Open. A record is
//
//	length u32 | body checksum u32 | header checksum u32 | body
//
// after eight bytes of magic. The header has a checksum of its own so that a
// record cut by a crash (a sound header, too few bytes) can be told from a file
// that was damaged (an unsound header): the first is cut off with a warning, the
// second is refused, because cutting there would drop acknowledged records that
// follow.
package oplog
