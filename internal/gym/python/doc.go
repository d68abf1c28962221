// Package python is the Python runtime's side on disk: the files of its worker, which are part of this binary, and the
// interpreter that runs them.
//
// [Find] asks an interpreter what it is and lists the files that it needs, so that a sandbox can show it those and nothing
// else. [Extract] writes the worker, with its byte code, into a folder. The worker itself is in worker/: main.py reads
// frames of package wire from descriptor 0 and answers on descriptor 3, and plays sources by the rules of package interp.
// Begin reading it at worker/spade_worker/serve.py.
package python
