"""Other people's environments in SPADE's class form.

Each module is an adapter of one package: `make(name, version, seeds, …)` returns a class `Env`, and `Catalogue` is an
environment whose first observation lists what the package has. They run inside the sandboxed worker, with the
package's installed files mounted read-only; nothing here runs on the platform's side.
"""

import os

# A worker has no threads to spare. These are read when the libraries are loaded, which is after this line and never
# again, so an environment's own code does not see them.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def _limit_threads():
    for name in _THREADS:
        os.environ[name] = "1"
    try:
        import numpy  # noqa: F401
    except ImportError:
        pass
    for name in _THREADS:
        os.environ.pop(name, None)


_limit_threads()
