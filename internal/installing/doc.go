// Package installing is what installers of downloaded things share: [Lock] keeps two of them from one folder, and
// [FreeBytes] says whether there is room.
package installing
