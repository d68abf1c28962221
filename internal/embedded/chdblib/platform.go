package chdblib

import (
	"fmt"
	"os"
	"runtime"
)

// Version is the npm version of the engine that this program was written against.
const Version = "26.7.3-stable.1"

// pkg is the npm package that carries the library of one platform.
type pkg struct {
	name      string
	integrity string // npm's checksum of the pinned version, where it is known
	unpacked  int64  // bytes on disk
}

// loaders are the dynamic loaders of glibc, without which the Linux library cannot be loaded.
var loaders = map[string]string{
	"amd64": "/lib64/ld-linux-x86-64.so.2",
	"arm64": "/lib/ld-linux-aarch64.so.1",
}

// platform names the package for an operating system and architecture.
func platform(goos, goarch string, exists func(string) bool) (pkg, error) {
	switch goos + "/" + goarch {
	case "linux/amd64":
		p := pkg{
			name:      "@chdb/lib-linux-x64-gnu",
			integrity: "sha512-XP97mMqnc5tZpKQywR8N7cLTsHNiTmHr30pC5mzo3jWmukjKn2IBa60c2B/gWUNcuFjOMjWoorQICCqBVj5wpw==",
			unpacked:  569042838,
		}
		return p, needGlibc(goarch, exists)
	case "linux/arm64":
		return pkg{name: "@chdb/lib-linux-arm64-gnu", unpacked: 570 << 20}, needGlibc(goarch, exists)
	case "darwin/amd64":
		return pkg{name: "@chdb/lib-darwin-x64", unpacked: 570 << 20}, nil
	case "darwin/arm64":
		return pkg{name: "@chdb/lib-darwin-arm64", unpacked: 570 << 20}, nil
	default:
		return pkg{}, fmt.Errorf("%w: no engine is published for %s/%s; use a ClickHouse server instead (SPADE_CLICKHOUSE_URL)",
			ErrUnsupported, goos, goarch)
	}
}

func needGlibc(goarch string, exists func(string) bool) error {
	if exists(loaders[goarch]) {
		return nil
	}
	return fmt.Errorf("%w: the engine needs glibc (%s is missing, as on Alpine and other musl systems); "+
		"use a glibc system, or a ClickHouse server instead (SPADE_CLICKHOUSE_URL)", ErrUnsupported, loaders[goarch])
}

func host() (pkg, error) {
	return platform(runtime.GOOS, runtime.GOARCH, func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	})
}
