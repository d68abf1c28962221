"""Reference solutions of TextArena's games: each takes a game right after its reset and returns the actions that win it.

They look at what the game hides from its player, and may play the game that they are given, which is a copy. ACTIONS are
the moves of the games that have few, whether or not each can be made just then.
"""

import copy
import itertools
import random
from collections import deque

_FOUR = ("up", "down", "left", "right")


def _guess_the_number(env):
    return ["[%d]" % env.game_number]


def _mastermind(env):
    return ["[%s]" % " ".join(str(digit) for digit in env.state.game_state["secret_code"])]


def _tower_of_hanoi(env):
    def move(count, source, target, spare):
        if count == 0:
            return []
        return move(count - 1, source, spare, target) + ["[%s %s]" % (source, target)] + move(count - 1, spare, target, source)

    return move(env.num_disks, "A", "C", "B")


def _lights_out(env):
    """Every choice of the first row determines the others; the shortest that works is the solution."""
    grid = env.state.game_state["grid"]
    size, best = len(grid), None
    for first in itertools.product((False, True), repeat=size):
        lit = [list(row) for row in grid]
        pressed = []
        for row in range(size):
            for column in range(size):
                if first[column] if row == 0 else lit[row - 1][column]:
                    pressed.append((row, column))
                    for r, c in ((row, column), (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                        if 0 <= r < size and 0 <= c < size:
                            lit[r][c] = not lit[r][c]
        if not any(lit[-1]) and (best is None or len(pressed) < len(best)):
            best = pressed
    return ["[%d %d]" % press for press in best or []]


def _frozen_lake(env):
    state = env.state.game_state
    grid, goal = state["grid"], tuple(state["goal_pos"])
    moves = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
    queue, seen = deque([(tuple(state["player_pos"]), ())]), set()
    while queue:
        place, path = queue.popleft()
        if place == goal:
            return ["[%s]" % step for step in path]
        for name, (down, right) in moves.items():
            row, column = place[0] + down, place[1] + right
            inside = 0 <= row < len(grid) and 0 <= column < len(grid[0])
            if inside and grid[row][column] != "H" and (row, column) not in seen:
                seen.add((row, column))
                queue.append(((row, column), path + (name,)))
    return []


def _crosswords(env):
    """A letter an action, or as many as the game's limit of turns asks for."""
    state = env.state.game_state
    letters = [
        "[%d %d %s]" % (row, column, letter)
        for row, line in enumerate(state["solution"]) for column, letter in enumerate(line)
        if state["board"][row][column] == "_"
    ]
    each = -(-len(letters) // env.max_turns)
    return [" ".join(letters[start:start + each]) for start in range(0, len(letters), each)]


def _cryptarithm(env):
    words, total = env.addends, env.result
    weights = {}
    for sign, group in ((1, words), (-1, [total])):
        for word in group:
            for power, letter in enumerate(reversed(word)):
                weights[letter] = weights.get(letter, 0) + sign * 10**power
    leading = {word[0] for word in words + [total]}
    letters = sorted(weights, key=lambda letter: -abs(weights[letter]))

    def search(index, rest, free):
        if index == len(letters):
            return [] if rest == 0 else None
        if abs(rest) > 9 * sum(abs(weights[letter]) for letter in letters[index:]):
            return None
        for digit in sorted(free):
            if digit or letters[index] not in leading:
                found = search(index + 1, rest + weights[letters[index]] * digit, free - {digit})
                if found is not None:
                    return ["[%s %d]" % (letters[index], digit)] + found
        return None

    return search(0, 0, frozenset(range(10))) or []


def _secretary(env):
    draws = env.state.game_state["draws"]
    return ["[continue]"] * draws.index(max(draws)) + ["[accept]"]


def _minesweeper(env):
    """Opens the middle, after which the mines lie fixed, and then every cell that is none."""
    actions = []

    def reveal(row, column):
        actions.append("[%d %d]" % (row, column))
        return env.step(actions[-1])[0]

    over = reveal(env.rows // 2, env.cols // 2)
    for row in range(env.rows):
        for column in range(env.cols):
            if not over and env.grid[row][column] != -1 and not env.revealed[row][column]:
                over = reveal(row, column)
    return actions


def _countdown(env):
    return _combine(list(env.numbers), env.target) or []


def _combine(numbers, target):
    """The actions that reach target, if the game takes two numbers out and puts the result at the end."""
    seen = set()

    def search(current):
        key = tuple(sorted(current))
        if key in seen:
            return None
        seen.add(key)
        for i, j in itertools.permutations(range(len(current)), 2):
            a, b = current[i], current[j]
            for sign in "+*-/":
                if sign in "+*" and i > j or sign == "-" and a < b or sign == "/" and (b == 0 or a % b):
                    continue
                value = {"+": a + b, "*": a * b, "-": a - b, "/": a // b if b else 0}[sign]
                action = "[%d %d %s]" % (i, j, sign)
                if value == target:
                    return [action]
                rest = [n for k, n in enumerate(current) if k not in (i, j)] + [value]
                if len(rest) > 1:
                    found = search(rest)
                    if found is not None:
                        return [action] + found
        return None

    return search(numbers)


def _peg_jump(env):
    seen = set()

    def search(board):
        if board.count(True) == 1:
            return []
        if tuple(board) in seen:
            return None
        seen.add(tuple(board))
        for source, over, target in env.ALLOWED_MOVES:
            if board[source] and board[over] and not board[target] and env._get_over(source, target) == over:
                after = list(board)
                after[source], after[over], after[target] = False, False, True
                found = search(after)
                if found is not None:
                    return ["[%d %d]" % (source, target)] + found
        return None

    return search(list(env.state.game_state["board"])) or []


def _sudoku(env):
    board = [list(row) for row in env.state.game_state["board"]]
    given = [list(row) for row in board]

    def options(row, column):
        used = set(board[row]) | {line[column] for line in board}
        top, left = row - row % 3, column - column % 3
        used |= {board[r][c] for r in range(top, top + 3) for c in range(left, left + 3)}
        return [digit for digit in range(1, 10) if digit not in used]

    def search():
        best = None
        for row, column in itertools.product(range(9), repeat=2):
            if board[row][column] == 0:
                found = options(row, column)
                if best is None or len(found) < len(best[2]):
                    best = (row, column, found)
        if best is None:
            return True
        row, column, digits = best
        for digit in digits:
            board[row][column] = digit
            if search():
                return True
        board[row][column] = 0
        return False

    if not search():
        return []
    return [
        "[%d %d %d]" % (row + 1, column + 1, board[row][column])
        for row, column in itertools.product(range(9), repeat=2) if given[row][column] == 0
    ]


def _bandit(env):
    """Presses the button with the highest mean until the last turn, and then names it."""
    means = env.state.game_state["ground_truth"]
    return ["[%s]" % max(means, key=means.get)] * (env.num_turns + 1)


def _three_card_monte(env):
    return ["[%d]" % env.ball_pos]


def _set(env):
    """A Set a turn. Where the board has none, the game deals three cards more before it looks at the action."""
    def find(board):
        return next((
            trio for trio in itertools.combinations(range(len(board)), 3)
            if all(len({board[index][part] for index in trio}) != 2 for part in range(4))
        ), None)

    actions, done = [], False
    while not done and len(actions) < 40:
        board, deck = env.state.game_state["board"], env.state.game_state["deck"]
        chosen = find(board) or find(board + deck[:-4:-1]) or (0, 1, 2)
        actions.append("[%s]" % ", ".join(str(index + 1) for index in chosen))
        done, _ = env.step(actions[-1])
    return actions


def _rush_hour(env):
    """The shortest play. A vehicle keeps its lane, so its place in it says everything."""
    size = env.BOARD_SIZE
    cars = [vehicle for _, vehicle in sorted(env.state.game_state["vehicles"].items())]
    red = next(index for index, car in enumerate(cars) if car.vid == "X")

    def cells(car, at):
        return [(car.row, at + k) if car.horizontal else (at + k, car.col) for k in range(car.length)]

    start = tuple(car.col if car.horizontal else car.row for car in cars)
    queue, seen = deque([(start, ())]), {start}
    while queue:
        places, path = queue.popleft()
        taken = {cell for car, at in zip(cars, places) for cell in cells(car, at)}
        for index, car in enumerate(cars):
            for sign, by in (("+", 1), ("-", -1)):
                at = places[index] + by
                front = cells(car, at)[-1 if by > 0 else 0]
                if not 0 <= at <= size - car.length or front in taken:
                    continue
                after = places[:index] + (at,) + places[index + 1:]
                step = path + ("[%s%s]" % (car.vid, sign),)
                if index == red and car.row == 2 and at >= size - car.length:
                    return list(step)
                if after not in seen:
                    seen.add(after)
                    queue.append((after, step))
    return []


def _game_2048(env):
    """Prefers its moves in one fixed order; of all orders the first that reaches the tile before the adapter's limit."""
    drawn = random.getstate()
    for order in itertools.permutations(_FOUR):
        random.setstate(drawn)
        game, actions, done = copy.deepcopy(env), [], False
        while not done and len(actions) < 290:
            board = game.state.game_state["board"]
            move = next((word for word in order if _slides(board, word)), None)
            if move is None:
                break
            actions.append("[%s]" % move.capitalize())
            done, _ = game.step(actions[-1])
        if done and game.state.rewards[0] == 1:
            return actions
    return []


def _slides(board, word):
    """Whether a move changes anything: a tile before an empty place, or before its equal."""
    lines = board if word in ("left", "right") else list(zip(*board))
    for line in lines:
        line = line if word in ("left", "up") else line[::-1]
        if any(b and (not a or a == b) for a, b in zip(line, line[1:])):
            return True
    return False


def _sokoban(env):
    """The shortest play on the drawn board, within the game's limit of turns."""
    board = [line.split() for line in env.state.game_state["board"].strip().split("\n")]
    cells = {(r, c): sign for r, line in enumerate(board) for c, sign in enumerate(line)}
    goals = frozenset(place for place, sign in cells.items() if sign in "O\u221aS")
    walls = frozenset(place for place, sign in cells.items() if sign == "#")
    boxes = frozenset(place for place, sign in cells.items() if sign in "X\u221a")
    player = next(place for place, sign in cells.items() if sign in "PS")
    moves = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
    queue, seen = deque([(player, boxes, ())]), {(player, boxes)}
    while queue and len(seen) < 200000:
        player, boxes, path = queue.popleft()
        if boxes == goals or len(path) >= env.max_turns:
            if boxes == goals:
                return ["[%s]" % step for step in path]
            continue
        for name, (down, right) in moves.items():
            place = (player[0] + down, player[1] + right)
            after = boxes
            if place in walls:
                continue
            if place in boxes:
                beyond = (place[0] + down, place[1] + right)
                if beyond in walls or beyond in boxes:
                    continue
                after = boxes - {place} | {beyond}
            if (place, after) not in seen:
                seen.add((place, after))
                queue.append((place, after, path + (name,)))
    return []


def _logic_puzzle(env):
    """Every mark of the solution, the crosses included."""
    actions = []
    for table in env.game_board_solution.values():
        for row, marks in table.items():
            for column, mark in marks.items():
                if mark is not None:
                    actions.append("[%s %s %s]" % (row, column, mark))
    return actions


SOLVERS = {
    "Bandit": _bandit, "Countdown": _countdown, "Crosswords": _crosswords, "Cryptarithm": _cryptarithm,
    "FrozenLake": _frozen_lake, "Game2048": _game_2048, "GuessTheNumber": _guess_the_number, "LightsOut": _lights_out,
    "LogicPuzzle": _logic_puzzle, "Mastermind": _mastermind, "Minesweeper": _minesweeper, "PegJump": _peg_jump,
    "RushHour": _rush_hour, "Secretary": _secretary, "Set": _set, "Sokoban": _sokoban, "Sudoku": _sudoku,
    "ThreeCardMonte": _three_card_monte, "TowerOfHanoi": _tower_of_hanoi,
}


def _boxes(words):
    return ["[%s]" % word for word in words]


ACTIONS = {
    "Bandit": lambda env: _boxes(env.buttons),
    "Blackjack": lambda env: _boxes(("Hit", "Stand")),
    "FifteenPuzzle": lambda env: _boxes(_FOUR),
    "FrozenLake": lambda env: _boxes(_FOUR),
    "Game2048": lambda env: _boxes(word.capitalize() for word in _FOUR),
    "GuessTheNumber": lambda env: _boxes(range(env.min_number, env.max_number + 1)),
    "LightsOut": lambda env: [
        "[%d %d]" % cell for cell in itertools.product(range(len(env.state.game_state["grid"])), repeat=2)
    ],
    "PegJump": lambda env: sorted({"[%d %d]" % (source, target) for source, _, target in env.ALLOWED_MOVES}),
    "RushHour": lambda env: [
        "[%s%s]" % move for move in itertools.product(sorted(env.state.game_state["vehicles"]), "+-")
    ],
    "Secretary": lambda env: _boxes(("accept", "continue")),
    "Sokoban": lambda env: _boxes(_FOUR),
    "ThreeCardMonte": lambda env: _boxes(range(env.num_cups)),
    "TowerOfHanoi": lambda env: ["[%s %s]" % move for move in itertools.permutations("ABC", 2)],
}


def solves(game, options):
    """Whether there is a reference solution: a high tile takes longer than an episode may."""
    return game in SOLVERS and not (game == "Game2048" and options["target_tile"] > 128)
