# One of four notes holds a code word; the agent reads them with tools and hands the word in. Made by
# `spade env new --kind tools --runtime python`.
#
# Try it, then change it to your own tools:
#   spade env check FILE      does the gate accept it?
#   spade env play FILE       what does the agent see?
#
# This is Python with its standard library. `rng` is always there and the only source of randomness: an episode must be
# the same whenever its seed is, so there is no use for random, time or the order of a set.

import json

NOTES = ["attic", "cellar", "garden", "kitchen"]

# META says what the environment is. Each tool is a JSON Schema; the agent calls one with the action
# {"name": "read", "arguments": {"note": "attic"}}. An episode is cut short after max_steps actions.
META = {
    "title": "Find the code word",
    "kind": "tools",
    "max_steps": 8,
    "tools": [
        {
            "name": "read",
            "description": "Read a note.",
            "parameters": {"type": "object", "properties": {"note": {"type": "string", "enum": NOTES}}, "required": ["note"]},
        },
        {
            "name": "submit",
            "description": "Hand in the code word. There is one try.",
            "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
        },
    ],
}

SYLLABLES = ["ba", "do", "fi", "gu", "ka", "lo", "mi", "nu", "pa", "ro", "su", "ti"]


def reset(seed):
    """Begins an episode. Returns the state, which must be JSON, what the agent sees first, and info."""
    state = {"place": rng.choice(NOTES), "word": "".join(rng.sample(SYLLABLES, 3)), "answer": None}
    return state, "There are four notes: attic, cellar, garden and kitchen. One of them holds a code word. Hand it in.", {}


def step(state, action):
    """Takes one action, which is any text: it must answer every text and must not fail.

    Returns the new state, what the agent sees next, the reward of this step, terminated (the task has come to its end),
    truncated (it was cut short; leave that to the platform) and info. The rewards of an episode add up to a return in
    [0, 1]; a return of 1 is solved.
    """
    try:
        call = json.loads(action)
        name, arguments = call["name"], call["arguments"]
        observation = use(state, name, arguments["note"] if name == "read" else arguments["word"])
    except (ValueError, LookupError, TypeError, RecursionError):
        observation = "Call a tool: a JSON object with name and arguments."
    return state, observation, verify(state), state["answer"] is not None, False, {}


def use(state, name, argument):
    if name == "read" and argument in NOTES:
        return f"The code word is {state['word']}." if argument == state["place"] else "This note is about the weather."
    if name == "submit" and isinstance(argument, str):
        state["answer"] = argument
        return "Thank you."
    return "There is no such tool, or no such note."


def hint(state):
    """What a teacher would whisper. One half of the episodes is played with it: what it helps is what can be learnt.

    It must not be in the first observation.
    """
    return f'It is "{state["word"]}". Submit that.'


def verify(state):
    """Judges the state on its own, when the episode has ended: the score in [0, 1].

    Where the episode terminated it must be equal to the return.
    """
    return 1.0 if state["answer"] == state["word"] else 0.0


def solve(state):
    """A solution of the state right after reset, as a list of actions. It shows that the task can be solved.

    This one reads the notes in order until it has the word, as an agent would who does not know where it is.
    """
    calls = [{"name": "read", "arguments": {"note": note}} for note in NOTES[: NOTES.index(state["place"]) + 1]]
    calls.append({"name": "submit", "arguments": {"word": state["word"]}})
    return [json.dumps(call) for call in calls]
