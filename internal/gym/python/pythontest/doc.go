// Package pythontest helps tests to compare the Python runtime with the Starlark one.
//
// A [Driver] is one Python process that plays one source after the other, unlike a real worker, which loads once in its
// life: starting a process for each of a thousand sources would be most of a test's time. [Same] plays a source in both
// runtimes by the same actions and tells every difference.
package pythontest
