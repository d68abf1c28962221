# Three pegs and three discs of different sizes. The discs are anywhere, always small on large; the aim is to bring all of
# them to the last peg, one at a time and never a large one on a small one.
#
# A game in Python's functional form. The state is a JSON value; what the agent may do depends on it, and the return is
# paid when the last disc is in place.

META = {"title": "Bring the discs to the last peg", "kind": "game", "max_steps": 12}

PEGS = ("left", "middle", "right")
DISCS = 3  # disc 0 is the smallest


def top(pegs, peg):
    """The smallest disc on a peg, or one larger than all where the peg is empty."""
    return min((disc for disc in range(DISCS) if pegs[disc] == peg), default=DISCS)


def moves(state):
    """The legal moves: the disc on top of one peg to another where it is the smaller one."""
    pegs = state["pegs"]
    return {
        f"{PEGS[a]} to {PEGS[b]}": (top(pegs, a), b)
        for a in range(3)
        for b in range(3)
        if top(pegs, a) < top(pegs, b)
    }


def show(state):
    lines = []
    for peg, name in enumerate(PEGS):
        discs = [str(disc + 1) for disc in reversed(range(DISCS)) if state["pegs"][disc] == peg]
        lines.append(f"{name:>6}: {' '.join(discs) or '-'}")
    lines.append("Bring every disc to the right peg. A larger number is a larger disc; the top of a peg is at its right end.")
    return "\n".join(lines)


def done(state):
    return state["pegs"] == [2] * DISCS


def way(pegs, disc, peg):
    """The fewest moves that bring the discs up to this one to a peg."""
    if disc < 0:
        return []
    if pegs[disc] == peg:
        return way(pegs, disc - 1, peg)
    spare = 3 - peg - pegs[disc]
    stacked = [spare] * disc + pegs[disc:]
    first = way(pegs, disc - 1, spare)
    return first + [f"{PEGS[pegs[disc]]} to {PEGS[peg]}"] + way(stacked, disc - 1, peg)


def reset(seed):
    # The largest disc is never in place already, so that there is something to do.
    state = {"pegs": [rng.randint(0, 2), rng.randint(0, 2), rng.randint(0, 1)]}
    return state, show(state), {"actions": list(moves(state))}


def step(state, action):
    legal = moves(state)
    if action in legal:
        disc, peg = legal[action]
        state["pegs"][disc] = peg
    return state, show(state), 1.0 if done(state) else 0.0, done(state), False, {"actions": list(moves(state))}


def hint(state):
    return f"Move like this: {', then '.join(solve(state))}."


def verify(state):
    return 1.0 if done(state) else 0.0


def solve(state):
    return way(state["pegs"], DISCS - 1, 2)
