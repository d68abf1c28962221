"""Conway's game of life on a torus, in the place of cellpylib, which has no built package.

Only what reasoning-gym calls: an empty board, and the life rule over some generations.
"""

import numpy


def init_simple2d(rows, cols):
    """One generation of a board whose centre lives. reasoning-gym empties it and places its own cells."""
    board = numpy.zeros((1, rows, cols), dtype=numpy.int32)
    board[0, rows // 2, cols // 2] = 1
    return board


def game_of_life_rule(*_):
    """Names the rule; evolve2d knows no other."""


def evolve2d(board, timesteps, apply_rule, memoize=None):
    """All generations, the first included. How they are found is no part of the result, so memoize is ignored."""
    if apply_rule is not game_of_life_rule:
        raise NotImplementedError("a rule other than the game of life")
    generations = [board[-1]]
    while len(generations) < timesteps:
        cells = generations[-1]
        around = sum(
            numpy.roll(cells, (down, right), (0, 1)) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right
        )
        generations.append(((around == 3) | ((cells == 1) & (around == 2))).astype(cells.dtype))
    return numpy.concatenate((board, numpy.array(generations[1:]).reshape(-1, *board.shape[1:])))
