# The smallest environment that passes the gate, with one place for a test to put what it must not do.
META = {"title": "Counting", "kind": "game", "max_steps": 12}

ACTIONS = ["up", "down", "stay"]


def noise(state):
    return ""


def show(state):
    return f"The counter is at {state['n']} and should be at {state['goal']}.{noise(state)}"


def reset(seed):
    state = {"n": 0, "goal": rng.randint(4, 6)}
    return state, show(state), {"actions": ACTIONS}


def step(state, action):
    if action == "up":
        state["n"] += 1
    elif action == "down":
        state["n"] -= 1
    done = state["n"] == state["goal"]
    return state, show(state), 1.0 if done else 0.0, done, False, {"actions": ACTIONS}


def hint(state):
    return f"Say up {state['goal'] - state['n']} times."


def verify(state):
    return 1.0 if state["n"] == state["goal"] else 0.0


def solve(state):
    return ["up"] * (state["goal"] - state["n"])
