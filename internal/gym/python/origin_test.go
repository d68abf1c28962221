package python

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// writeProgram makes an ELF file of a header, a dynamic section with one search path, and their texts.
func writeProgram(t *testing.T, path string, tag elf.DynTag, search string) {
	t.Helper()
	texts := "\x00" + search + "\x00.dynamic\x00.dynstr\x00"
	at := func(text string) uint32 { return uint32(bytes.Index([]byte(texts), []byte(text))) }
	const headerSize, dynamicSize, sectionSize = 64, 32, 64
	offset := uint64(headerSize + dynamicSize)
	var b bytes.Buffer
	for _, part := range []any{
		elf.Header64{
			Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
			Type:  uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
			Shoff: offset + uint64(len(texts)), Ehsize: headerSize, Shentsize: sectionSize, Shnum: 3, Shstrndx: 2,
		},
		elf.Dyn64{Tag: int64(tag), Val: 1},
		elf.Dyn64{},
		[]byte(texts),
		elf.Section64{},
		elf.Section64{Name: at(".dynamic"), Type: uint32(elf.SHT_DYNAMIC), Off: headerSize, Size: dynamicSize, Link: 2, Entsize: 16},
		elf.Section64{Name: at(".dynstr"), Type: uint32(elf.SHT_STRTAB), Off: offset, Size: uint64(len(texts))},
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLibraryPath(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bin", "python")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for search, want := range map[string]string{
		"$ORIGIN/../lib":                dir + "/lib",
		"${ORIGIN}/../lib:/opt/x:/$ORI": dir + "/lib",
		"$ORIGIN:$ORIGIN/../lib64":      dir + "/bin:" + dir + "/lib64",
		"/usr/lib":                      "",
	} {
		for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
			writeProgram(t, path, tag, search)
			if got := LibraryPath(path); got != want {
				t.Errorf("%s %s: %q, want %q", tag, search, got, want)
			}
		}
	}
	if got := LibraryPath(dir + "/nothing"); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
