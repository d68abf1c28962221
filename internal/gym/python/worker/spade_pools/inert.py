"""Answers that do nothing when they are evaluated.

Some scorers of reasoning-gym hand the answer to Python's eval, directly or through sympy. Inside the sandbox that harms
nobody, but an answer that runs could write its own score. So to these data sets an answer is given only if it is a literal, or an
expression of numbers, letters and a few functions; any other is wrong.
"""

import ast
import re

# The data sets whose scorers evaluate, by what they expect.
EXPRESSIONS = frozenset((
    "countdown", "puzzle24", "simple_integration", "intermediate_integration", "polynomial_multiplication",
))
LITERALS = frozenset(("string_insertion", "spiral_matrix", "binary_matrix", "n_queens"))

_FUNCTIONS = frozenset((
    "sin", "cos", "tan", "sec", "csc", "cot", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "ln", "sqrt",
    "Abs", "pi",
))
# Numbers, names and operators. No quotes, no attributes, no subscripts: nothing that reaches anything.
_TOKENS = re.compile(r"\s*(?:(\d+\.?\d*|\.\d+)(?![A-Za-z_.\d])|([A-Za-z]+)(?![A-Za-z_\d.])|(\*\*|[-+*/^(),=]))")


def inert(name, answer):
    """Whether the scorer of the data set may see the answer."""
    if name in LITERALS:
        return _literal(answer)
    return name not in EXPRESSIONS or _expression(answer)


def _literal(answer):
    """A literal, or what is no Python at all: rows of digits, words."""
    try:
        tree = ast.parse(answer.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return True  # eval refuses it as well, before anything runs
    try:
        ast.literal_eval(tree)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return isinstance(tree.body, ast.Name)
    return True


def _expression(answer):
    text, at = answer.strip(), 0
    while at < len(text):
        token = _TOKENS.match(text, at)
        if token is None or token[2] and len(token[2]) > 1 and token[2] not in _FUNCTIONS:
            return False
        at = token.end()
    return True
