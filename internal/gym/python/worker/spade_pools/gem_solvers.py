"""Reference solutions of GEM's games, by the names of their classes. Each takes a game right after its reset.

ACTIONS are the moves of the games that have few, whether or not each can be made just then.
"""

import itertools


def boxed(text):
    return "\\boxed{%s}" % text


def unboxed(action):
    return "[%s]" % action[len("\\boxed{"):-1]


def _guess_the_number(env):
    return [boxed(env.game_number)]


def _mastermind(env):
    return [boxed(" ".join(str(digit) for digit in env.game_code))]


def _tower_of_hanoi(env):
    def move(count, source, target, spare):
        if count == 0:
            return []
        there, back = move(count - 1, source, spare, target), move(count - 1, spare, target, source)
        return there + [boxed("%s %s" % (source, target))] + back

    return move(env.num_disks, "A", "C", "B")


def _minesweeper(env):
    """Opens the middle, after which the mines lie fixed; then flags the mines, and opens every other cell."""
    actions = []

    def act(verb, row, column):
        actions.append(boxed("%s %d %d" % (verb, row, column)))
        return env.step(actions[-1])[2]

    cells = [(row, column) for row in range(env.rows) for column in range(env.cols)]
    over = act("reveal", env.rows // 2, env.cols // 2)
    for row, column in cells:
        if not over and env.grid[row][column] == -1:
            over = act("flag", row, column)
    for row, column in cells:
        if not over and env.grid[row][column] != -1 and not env.revealed[row][column]:
            over = act("reveal", row, column)
    return actions


def _sudoku(env):
    return [
        boxed("%d %d %d" % (row + 1, column + 1, env.full_grid[row][column]))
        for row, line in enumerate(env.board) for column, digit in enumerate(line) if digit == 0
    ]


SOLVERS = {
    "GuessTheNumberEnv": _guess_the_number, "MastermindEnv": _mastermind, "MinesweeperEnv": _minesweeper,
    "SudokuEnv": _sudoku, "TowerofHanoiEnv": _tower_of_hanoi,
}

_FOUR = ("up", "down", "left", "right")

ACTIONS = {
    "FifteenPuzzleEnv": lambda env: _FOUR,
    "Game2048Env": lambda env: _FOUR,
    "GuessTheNumberEnv": lambda env: range(env.min_number, env.max_number + 1),
    "SokobanEnv": lambda env: _FOUR,
    "TowerofHanoiEnv": lambda env: ["%s %s" % move for move in itertools.permutations("ABC", 2)],
}
