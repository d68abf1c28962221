// Package suites holds the held-out environments that a run is evaluated on, and reads their manifest.
//
// There are two suites. The development suite may be looked at while a policy is tuned; the confirmation suite has other
// mechanics and is for the final figure only. Each has six categories. A task's group tells how it relates to what the
// native designer can write: shifted (a mechanic of its grammar in other words), harder (outside its parameter ranges) or
// novel (a mechanic that its grammar cannot express). Begin with [Load].
package suites
