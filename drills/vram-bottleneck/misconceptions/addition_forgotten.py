"""Leaves out dx = a + b."""

every_operation = operations


def operations(rows, width, hidden, plan):
    addition = elementwise(2, 1, rows * width)
    return [o for o in every_operation(rows, width, hidden, plan) if o != addition]
