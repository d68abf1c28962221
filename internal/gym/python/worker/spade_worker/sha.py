"""SHA-256 from the interpreter itself, which is there at once, and for long texts the faster one of a library."""

try:
    from _sha2 import sha256  # Python 3.12 and later
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

LONG = 2048

library = None  # looked for at the first long text: it takes longer to load than a worker to start


def hexdigest(data):
    if len(data) < LONG:
        return sha256(data).hexdigest()
    global library
    if library is None:
        try:
            from _hashlib import openssl_sha256 as library
        except ImportError:
            library = sha256
    return library(data).hexdigest()
