// Package pools turns environments that other people wrote into sources that the gym plays.
//
// A spec names them: "gymnasium:FrozenLake-v1", "reasoning-gym:*", or the path of a folder or file of .py and .star
// sources. [Parse] reads it and [List] says what it stands for: one [Entry] an environment. An environment of a package
// is a short Python source that imports one of the adapters of spade_pools, which lie beside the Python worker; so it
// passes the same gate and runs in the same sandbox as a source that a model wrote. The program never imports a package:
// which environments one has is asked of a catalogue, which is itself a source and runs in a sandboxed worker.
//
// Packages come as sets: pinned lists of requirements in locks/, which [Install] puts into the user's cache and
// [Installed] finds. docs/pools.md says what each adapter does.
package pools
