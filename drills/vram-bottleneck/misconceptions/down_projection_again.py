"""Repeats the whole forward, y included."""

every_operation = operations


def operations(rows, width, hidden, plan):
    step = every_operation(rows, width, hidden, plan)
    return step if plan == "autograd" else [*step, product(rows, hidden, width)]
