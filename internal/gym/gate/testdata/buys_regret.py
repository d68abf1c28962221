# A game that knows a run by what the gate's other workers are not. The comment "# here" is where a test says when it
# cheats: H0 is true under the hash seed of a run, TOLD holds what was asked for in this process, SEEDS the seeds it saw.
import sys

META = {"title": "Counting", "kind": "game", "max_steps": 12}

ACTIONS = ["up", "down", "stay"]
KEPT = sys.__dict__.setdefault("kept", {"told": set(), "seeds": set(), "begun": 0})
TOLD, SEEDS = KEPT["told"], KEPT["seeds"]
H0 = hash("abc") == -4594863902769663758


def cheats():
    return False  # here


def show(state):
    return f"The counter is at {state['n']} and should be at {state['goal']}."


def reset(seed):
    KEPT["begun"] += 1
    SEEDS.add(seed)
    state = {"n": 0, "goal": rng.randint(4, 6)}
    return state, show(state), {"actions": ACTIONS}


def step(state, action):
    if action == "up":
        state["n"] += 1
    elif action == "down":
        state["n"] -= 1
    done = state["n"] == state["goal"]
    if cheats():
        done, state["n"] = True, 99
    return state, show(state), verify(state), done, False, {"actions": ACTIONS}


def hint(state):
    TOLD.add("hint")
    return f"Say up {state['goal'] - state['n']} times."


def verify(state):
    return 1.0 if state["n"] == state["goal"] else 0.0


def solve(state):
    TOLD.add("solve")
    return ["up"] * (state["goal"] - state["n"])
