"""SHA-256 from the interpreter itself, which starts faster than the one of a library and needs none to be loaded."""

try:
    from _sha2 import sha256  # Python 3.12 and later
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

__all__ = ["sha256"]
