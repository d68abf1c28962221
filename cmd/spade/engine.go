package main

import (
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/embedded/chdblib"
)

// engineConfig says where the embedded ClickHouse engine is.
func engineConfig(l config.Loaded) chdblib.Config {
	return chdblib.Config{Path: l.Libchdb, CacheDir: l.Cache}
}
