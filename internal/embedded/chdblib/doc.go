// Package chdblib finds and installs libchdb, the shared library that holds the embedded ClickHouse engine.
//
// Find looks where a user or an earlier install put it. Install fetches the pinned npm package of this platform
// with the user's own npm client, into a cache folder that all data folders share.
package chdblib
