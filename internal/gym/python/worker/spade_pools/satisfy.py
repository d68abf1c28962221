"""All solutions of a formula in conjunctive normal form, in a fixed order.

It stands in for pycosat, which has no built package and would need a C compiler on every machine. reasoning-gym asks it
only whether a puzzle of some dozens of variables has exactly one solution, which does not depend on the solver.
"""


def itersolve(clauses, *_, **__):
    """Yields each solution as a list of signed numbers, one for each variable."""
    clauses = [tuple(dict.fromkeys(clause)) for clause in clauses]
    variables = sorted({abs(literal) for clause in clauses for literal in clause})
    holding = {}
    for index, clause in enumerate(clauses):
        for literal in clause:
            holding.setdefault(literal, []).append(index)
    values = {}

    def put(literal, trail):
        """Takes literal for true with all that follows from it; False when that is a contradiction."""
        queue = [literal]
        while queue:
            literal = queue.pop()
            value = values.get(abs(literal))
            if value is not None:
                if value != (literal > 0):
                    return False
                continue
            values[abs(literal)] = literal > 0
            trail.append(abs(literal))
            for index in holding.get(-literal, ()):
                open_literal, unknown = 0, 0
                for other in clauses[index]:
                    known = values.get(abs(other))
                    if known is None:
                        open_literal, unknown = other, unknown + 1
                    elif known == (other > 0):
                        break
                else:
                    if unknown == 0:
                        return False
                    if unknown == 1:
                        queue.append(open_literal)
        return True

    def search():
        undecided = next((v for v in variables if v not in values), None)
        if undecided is None:
            yield [v if values[v] else -v for v in variables]
            return
        for literal in (undecided, -undecided):
            trail = []
            if put(literal, trail):
                yield from search()
            for variable in trail:
                del values[variable]

    if any(not clause for clause in clauses):
        return
    first = []
    if all(put(clause[0], first) for clause in clauses if len(clause) == 1):
        yield from search()


def solve(clauses, *_, **__):
    """One solution, or "UNSAT" as pycosat says."""
    return next(itersolve(clauses), "UNSAT")
