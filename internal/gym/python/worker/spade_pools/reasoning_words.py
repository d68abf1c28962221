"""Whether a question shows of an answer what the acceptance gate would take for a leak of the hint that gives it."""

_LEAK_WORD, _LEAK_RUN = 4, 24  # as the gate counts


def words(text):
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


def holds(question, answer):
    """A longer word of the answer, or a long run of it, both given as words."""
    if set(question).intersection(word for word in answer if len(word) >= _LEAK_WORD):
        return True
    asked, told = " ".join(question), " ".join(answer)
    return any(told[start:start + _LEAK_RUN] in asked for start in range(len(told) - _LEAK_RUN + 1))
