# What an environment could do to this machine, told by the title of the environment that it pretends to be.
import mmap, os, socket

breaches = []


def attempt(name, what):
    try:
        if what() is not False:
            breaches.append(name)
    except BaseException:
        pass


def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def execute():
    try:
        os.execv("/no/such/program", ["x"])  # nothing is executed: the point is who says no
    except FileNotFoundError:
        return True


def write(path):
    with open(path, "w") as f:
        f.write("x")


def descriptors():
    # Its own input, output, and the two that the worker has moved; asking for more may find what was left open.
    found = []
    for fd in range(3, 256):
        try:
            os.fstat(fd)
            found.append(fd)
        except OSError:
            pass
    return len(found) > 2


FULL = [
    ("start a process", fork),
    ("execute a program", execute),
    ("make a socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)),
    ("read a file of the machine", lambda: open(CANARY).read()),
    ("see the machine's processes", lambda: os.listdir("/proc")),
    ("signal another process", lambda: os.kill(PARENT, 0)),
    ("write to the root folder", lambda: os.mkdir("/written")),
    ("write to the interpreter", lambda: write(os.path.join(os.path.dirname(os.__file__), "written.py"))),
    ("find a descriptor that was left open", descriptors),
    ("be root on the machine", lambda: os.getuid() == 0 and ROOT),
    ("change its name for the machine", lambda: socket.sethostname("taken")),
]
LIMITS = [("allocate more than its limit", lambda: len(mmap.mmap(-1, TOO_MUCH, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)) > 0)]

for name, what in (FULL if CONFINED else []) + LIMITS:
    attempt(name, what)

META = {"title": ", ".join(breaches)[:180] or "it holds", "kind": "game", "max_steps": 1}


def reset(seed):
    return {}, "", {}


def step(state, action):
    return state, "", 0.0, True, False, {}


def hint(state):
    return ""


def verify(state):
    return 0.0
