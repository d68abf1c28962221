# Fills ENOUGH bytes of memory that no limit of a process counts, because they could be shared: only a control group or the
# watchdog ends it. That the machine has no more, or promises no more, holds it as well.
import errno, mmap, time

PIECE = 64 << 20
kept = []
while len(kept) * PIECE < ENOUGH:
    try:
        piece = mmap.mmap(-1, PIECE)
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise MemoryError from None
        raise
    for at in range(0, PIECE, 4096):
        piece[at] = 1
    kept.append(piece)
time.sleep(5)  # the watchdog looks from time to time, on a busy machine less often
