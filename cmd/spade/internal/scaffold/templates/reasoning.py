# A customer pays for some goods; the agent says how much change is due. Made by
# `spade env new --kind reasoning --runtime python`.
#
# Try it, then change it to your own task:
#   spade env check FILE      does the gate accept it?
#   spade env play FILE       what does the agent see?
#
# This is Python with its standard library. `rng` is always there and the only source of randomness: an episode must be
# the same whenever its seed is, so there is no use for random, time or the order of a set.

# META says what the environment is. An episode is cut short after max_steps actions.
META = {"title": "How much change is due", "kind": "reasoning", "max_steps": 1}

GOODS = ["pencils", "apples", "candles", "ribbons", "marbles"]


def change(state):
    return state["paid"] - state["count"] * state["price"]


# What info lists as actions, the agent may choose from. It may also say anything else.
def choices(state):
    return [f"answer {change(state) + offset}" for offset in state["offsets"]]


def reset(seed):
    """Begins an episode. Returns the state, which must be JSON, what the agent sees first, and info."""
    count, price = rng.randint(3, 9), rng.randint(4, 12)
    state = {
        "goods": rng.choice(GOODS),
        "count": count,
        "price": price,
        "paid": count * price + rng.randint(11, 60),
        "offsets": rng.shuffled([-10, -2, 0, 1, 7]),
        "answer": None,
    }
    observation = (
        f"A customer buys {count} {state['goods']} at {price} coins each and pays with {state['paid']} coins. "
        "How many coins are the change?"
    )
    return state, observation, {"actions": choices(state)}


def step(state, action):
    """Takes one action, which is any text: it must answer every text and must not fail.

    Returns the new state, what the agent sees next, the reward of this step, terminated (the task has come to its end),
    truncated (it was cut short; leave that to the platform) and info. The rewards of an episode add up to a return in
    [0, 1]; a return of 1 is solved.
    """
    state["answer"] = action
    return state, "Thank you.", verify(state), True, False, {}


def hint(state):
    """What a teacher would whisper. One half of the episodes is played with it: what it helps is what can be learnt.

    It must not be in the first observation, and it should say how, not only what.
    """
    cost = state["count"] * state["price"]
    return f"{state['count']} times {state['price']} is {cost}. What is left of {state['paid']} coins is the change: {change(state)}."


def verify(state):
    """Judges the state on its own, when the episode has ended: the score in [0, 1].

    Where the episode terminated it must be equal to the return.
    """
    return 1.0 if state["answer"] == f"answer {change(state)}" else 0.0


def solve(state):
    """A solution of the state right after reset, as a list of actions.

    It shows that the task can be solved, and it should act only on what the agent can see.
    """
    return [f"answer {change(state)}"]
