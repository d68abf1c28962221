package chaos

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// canJump says why the clock of a process cannot be set; empty: it can.
const canJump = ""

// jumpClock sets the wall clock of a running process forward or back: it replaces the functions of the process's own vDSO,
// which is what Go and the C library ask for the time, with ones that ask the kernel and add an offset. The monotonic clock
// goes on as it does when an administrator sets the time.
func jumpClock(pid int, by time.Duration) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	defer syscall.Kill(pid, syscall.SIGCONT) //nolint:errcheck // the process may be gone
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	base, image, err := readVDSO(pid, mem)
	if err != nil {
		return err
	}
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return err
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return err
	}
	patched := 0
	for _, s := range symbols {
		code := clockCode(s.Name, by)
		if code == nil {
			continue
		}
		if uint64(len(code)) > s.Size {
			return fmt.Errorf("%s has %d bytes of code, %d are needed", s.Name, s.Size, len(code))
		}
		at := base + s.Value
		if err := notInside(pid, at, at+s.Size); err != nil {
			return err
		}
		if _, err := mem.WriteAt(code, int64(at)); err != nil {
			return fmt.Errorf("write %s: %w", s.Name, err)
		}
		patched++
	}
	if patched == 0 {
		return errors.New("the vDSO has no clock")
	}
	return nil
}

func readVDSO(pid int, mem io.ReaderAt) (base uint64, image []byte, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, nil, err
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			continue
		}
		from, to, _ := strings.Cut(strings.Fields(line)[0], "-")
		lo, errLo := strconv.ParseUint(from, 16, 64)
		hi, errHi := strconv.ParseUint(to, 16, 64)
		if err := errors.Join(errLo, errHi); err != nil {
			return 0, nil, err
		}
		image = make([]byte, hi-lo)
		_, err = mem.ReadAt(image, int64(lo))
		return lo, image, err
	}
	return 0, nil, errors.New("the process has no vDSO")
}

// clockCode is the machine code of a clock function that is off; nil for other functions. Seconds come first in every
// answer.
func clockCode(name string, by time.Duration) []byte {
	offset := binary.LittleEndian.AppendUint64(nil, uint64(int64(by/time.Second)))
	movRCX := append([]byte{0x48, 0xb9}, offset...) // movabs rcx, offset
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	switch name {
	case "__vdso_clock_gettime", "clock_gettime":
		return join(
			[]byte{0xb8, 0xe4, 0, 0, 0, 0x0f, 0x05}, // mov eax, 228; syscall
			[]byte{0x85, 0xff, 0x74, 0x05},          // CLOCK_REALTIME? add
			[]byte{0x83, 0xff, 0x05, 0x75, 0x0d},    // not CLOCK_REALTIME_COARSE? return
			movRCX, []byte{0x48, 0x01, 0x0e},        // add [rsi], rcx
			[]byte{0xc3},
		)
	case "__vdso_gettimeofday", "gettimeofday":
		return join(
			[]byte{0xb8, 0x60, 0, 0, 0, 0x0f, 0x05}, // mov eax, 96; syscall
			[]byte{0x48, 0x85, 0xff, 0x74, 0x0d},    // no place for it? return
			movRCX, []byte{0x48, 0x01, 0x0f},        // add [rdi], rcx
			[]byte{0xc3},
		)
	case "__vdso_time", "time":
		return join(
			[]byte{0xb8, 0xc9, 0, 0, 0, 0x0f, 0x05}, // mov eax, 201; syscall: it may have a place too, which gets the sum
			movRCX, []byte{0x48, 0x01, 0xc8},        // add rax, rcx
			[]byte{0x48, 0x85, 0xff, 0x74, 0x03, 0x48, 0x89, 0x07}, // a place? mov [rdi], rax
			[]byte{0xc3},
		)
	}
	return nil
}

// errBusy says that a thread is in the function that is to be replaced; trying again helps.
var errBusy = errors.New("a thread is asking for the time")

// stopped waits until the stop has reached every thread: on a busy machine it takes a while.
func stopped(pid int) error {
	for range 200 {
		running := 0
		stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil {
			return err
		}
		for _, stat := range stats {
			b, err := os.ReadFile(stat)
			if i := bytes.LastIndexByte(b, ')'); err == nil && i+2 < len(b) && b[i+2] != 'T' && b[i+2] != 't' {
				running++
			}
		}
		if running == 0 {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return errBusy
}

// notInside makes sure that no thread of the stopped process is about to run on in the middle of new code.
func notInside(pid int, from, to uint64) error {
	if err := stopped(pid); err != nil {
		return err
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	if err != nil {
		return err
	}
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		fields := strings.Fields(string(b))
		if fields[0] == "running" {
			return errBusy // the stop has not reached it
		}
		pc, err := strconv.ParseUint(strings.TrimPrefix(fields[len(fields)-1], "0x"), 16, 64)
		if err == nil && pc >= from && pc < to {
			return errBusy
		}
	}
	return nil
}
