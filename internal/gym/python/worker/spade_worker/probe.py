"""What the process can do that a confined one cannot, tried from the inside. It changes nothing that outlives it."""

import os


def probe():
    """The names of what was possible."""
    return [name for name, attempt in ATTEMPTS if possible(attempt)]


def possible(attempt):
    try:
        return attempt() is not False
    except Exception:
        return False


def make_a_socket():
    from _socket import AF_INET, SOCK_STREAM, socket

    socket(AF_INET, SOCK_STREAM).close()


def start_a_process():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def signal_its_parent():
    parent = os.getppid()
    if parent == 0:  # of another namespace
        return False
    os.kill(parent, 0)


def write_to_the_root():
    os.rmdir(os.mkdir("/.spade-probe") or "/.spade-probe")


def read_the_users():
    open("/etc/passwd", "rb").close()


def execute_a_program():
    # Nothing is executed: the name is too long for any file, and a confined process is not even told so.
    try:
        os.execv("/" + "x" * 300, ["x"])
    except OSError as error:
        return error.errno == 36  # ENAMETOOLONG


ATTEMPTS = (
    ("make a socket", make_a_socket),
    ("start a process", start_a_process),
    ("signal its parent", signal_its_parent),
    ("write to the root folder", write_to_the_root),
    ("read the list of users", read_the_users),
    ("execute a program", execute_a_program),
)
