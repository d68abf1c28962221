"""The edit distance of ordered trees (Zhang and Shasha), in the place of zss, which has no built package.

reasoning-gym's codeio uses it to give part of the points to an answer that is nearly right.
"""


class Node:
    def __init__(self, label, children=None):
        self.label, self.children = label, list(children or ())

    def addkid(self, node):
        self.children.append(node)
        return self


def simple_distance(left, right, label_dist):
    """What it costs to make left into right; label_dist says what one label costs in the place of another or of ""."""
    a, a_left = _post_order(left)
    b, b_left = _post_order(right)
    distance = [[0.0] * len(b) for _ in a]
    for i in _key_roots(a_left):
        for j in _key_roots(b_left):
            _fill(distance, a, a_left, b, b_left, i, j, label_dist)
    return distance[-1][-1]


def _fill(distance, a, a_left, b, b_left, i, j, cost):
    first, second = a_left[i], b_left[j]
    forest = [[0.0] * (j - second + 2) for _ in range(i - first + 2)]
    for x in range(first, i + 1):
        forest[x - first + 1][0] = forest[x - first][0] + cost(a[x], "")
    for y in range(second, j + 1):
        forest[0][y - second + 1] = forest[0][y - second] + cost("", b[y])
    for x in range(first, i + 1):
        for y in range(second, j + 1):
            u, v = x - first + 1, y - second + 1
            removed, added = forest[u - 1][v] + cost(a[x], ""), forest[u][v - 1] + cost("", b[y])
            if a_left[x] == first and b_left[y] == second:
                forest[u][v] = distance[x][y] = min(removed, added, forest[u - 1][v - 1] + cost(a[x], b[y]))
            else:
                forest[u][v] = min(removed, added, forest[a_left[x] - first][b_left[y] - second] + distance[x][y])


def _post_order(root):
    """The labels in post-order, and for each the index of the leftmost leaf below it."""
    labels, leftmost, stack = [], [], [(root, 0, None)]
    while stack:
        node, child, first = stack.pop()
        if child < len(node.children):
            stack.append((node, child + 1, len(labels) if first is None else first))
            stack.append((node.children[child], 0, None))
            continue
        leftmost.append(len(labels) if first is None else first)
        labels.append(node.label)
    return labels, leftmost


def _key_roots(leftmost):
    """For each leftmost leaf the last node that has it."""
    return sorted({leaf: index for index, leaf in enumerate(leftmost)}.values())
