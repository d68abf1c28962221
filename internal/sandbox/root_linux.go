package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// oldRoot is where the machine's files are while the new root is made.
const oldRoot = "/.machine"

// emptyFolder is what a program finds in place of each hidden folder.
const emptyFolder = "/.empty"

// ownFolders are those of the new root itself: a mount over one of them would undo what it is made for.
var ownFolders = []string{"/", oldRoot, emptyFolder, ScratchFolder, "/dev"}

// devices are those that exist in the new root.
var devices = []string{"/dev/null", "/dev/zero", "/dev/urandom"}

// mountBases are folders that exist nearly everywhere; the new root is mounted over one of them for an instant.
var mountBases = []string{"/tmp", "/run", "/var", "/usr", "/proc"}

// enterRoot replaces the file system by an empty one in memory with some read-only mounts, and forgets the machine's. It
// needs a mount namespace of its own.
func enterRoot(p Program) error {
	resolved, err := resolve(p.Mounts)
	if err != nil {
		return err
	}
	if err := unix.Sethostname([]byte("spade")); err != nil {
		return fmt.Errorf("name the host: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to itself: %w", err)
	}
	if err := pivot(); err != nil {
		return err
	}
	if err := mountScratch(p.ScratchBytes); err != nil { // first, for an interpreter may live below it
		return err
	}
	for _, m := range resolved {
		if err := mountReadOnly(oldRoot+m.From, m.To, unix.MOUNT_ATTR_NODEV); err != nil {
			return fmt.Errorf("mount %s: %w", m.From, err)
		}
	}
	if err := hide(p.Hidden); err != nil {
		return err
	}
	for _, d := range devices {
		if err := mountReadOnly(oldRoot+d, d, unix.MOUNT_ATTR_NOEXEC); err != nil {
			return fmt.Errorf("mount %s: %w", d, err)
		}
	}
	if err := unix.Unmount(oldRoot, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the machine's files: %w", err)
	}
	if err := os.Remove(oldRoot); err != nil {
		return err
	}
	if err := setMountAttr("/", 0, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
		return fmt.Errorf("make the root read-only: %w", err)
	}
	return nil
}

// resolve finds the files behind links while the machine's own paths still mean something, and orders mounts so that
// those inside others come later.
func resolve(mounts []Mount) ([]Mount, error) {
	out := make([]Mount, 0, len(mounts))
	for _, m := range mounts {
		if !filepath.IsAbs(m.From) || !filepath.IsAbs(m.target()) {
			return nil, fmt.Errorf("mount %q: not an absolute path", m.From)
		}
		to := filepath.Clean(m.target())
		if slices.Contains(ownFolders, to) || strings.HasPrefix(to, oldRoot+"/") {
			return nil, fmt.Errorf("mount %q at %s: that is the root's own", m.From, to)
		}
		from, err := filepath.EvalSymlinks(m.From)
		if err != nil {
			return nil, fmt.Errorf("mount: %w", err)
		}
		out = append(out, Mount{From: from, To: to})
	}
	slices.SortStableFunc(out, func(a, b Mount) int { return cmp.Compare(len(a.To), len(b.To)) })
	return out, nil
}

// pivot makes an empty file system the root, with the old one inside.
func pivot() error {
	var err error
	for _, base := range mountBases {
		if err = unix.Mount("tmpfs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=256k,nr_inodes=4096"); err != nil {
			continue
		}
		if err = os.Mkdir(base+oldRoot, 0o700); err == nil {
			err = unix.PivotRoot(base, base+oldRoot)
		}
		if err != nil {
			return fmt.Errorf("change the root: %w", err)
		}
		return os.Chdir("/")
	}
	return fmt.Errorf("mount an empty root: %w", err)
}

// mountReadOnly shows a file or folder at a path that is made for it.
func mountReadOnly(from, to string, attr uint64) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := makeTarget(to, info.IsDir()); err != nil {
		return err
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return setMountAttr(to, unix.AT_RECURSIVE, attr|unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID)
}

// hide covers folders inside the mounts by an empty one. Those that the mounts do not have need not be covered.
func hide(paths []string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.IsDir() {
			err = unix.ENOTDIR
		}
		if err == nil {
			err = mountReadOnlyFolder(emptyFolder, path)
		}
		if err != nil {
			return fmt.Errorf("hide %s: %w", path, err)
		}
	}
	return nil
}

func mountReadOnlyFolder(from, to string) error {
	if err := os.MkdirAll(from, 0o755); err != nil {
		return err
	}
	return mountReadOnly(from, to, unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
}

func makeTarget(path string, folder bool) error {
	if _, err := os.Lstat(path); err == nil {
		return nil // inside an earlier mount
	}
	if folder {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// setMountAttr adds attributes to a mount. Kernels before 5.12 know only the older call, which must repeat what a mount has
// already and does not reach mounts below.
func setMountAttr(path string, flags uint, attr uint64) error {
	err := unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: attr})
	if !errors.Is(err, unix.ENOSYS) {
		return err
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return err
	}
	has := uintptr(stat.Flags) & (unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME | unix.MS_RELATIME | unix.MS_NOSUID | unix.MS_NODEV)
	for a, ms := range map[uint64]uintptr{
		unix.MOUNT_ATTR_RDONLY: unix.MS_RDONLY, unix.MOUNT_ATTR_NOSUID: unix.MS_NOSUID,
		unix.MOUNT_ATTR_NODEV: unix.MS_NODEV, unix.MOUNT_ATTR_NOEXEC: unix.MS_NOEXEC,
	} {
		if attr&a != 0 {
			has |= ms
		}
	}
	return unix.Mount("", path, "", unix.MS_BIND|unix.MS_REMOUNT|has, "")
}

// mountScratch makes the one folder that can be written to. Its pages belong to the control group of whoever writes them.
func mountScratch(size uint64) error {
	if err := os.MkdirAll(ScratchFolder, 0o755); err != nil {
		return err
	}
	data := fmt.Sprintf("mode=1777,size=%d,nr_inodes=1024", max(size, 1<<16))
	if err := unix.Mount("tmpfs", ScratchFolder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, data); err != nil {
		return fmt.Errorf("mount %s: %w", ScratchFolder, err)
	}
	return nil
}
