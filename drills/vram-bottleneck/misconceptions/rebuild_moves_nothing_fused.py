"""Counts for both rebuilding plans the operations of plain autograd, fused in the one."""

every_operation = operations


def operations(rows, width, hidden, plan):
    if plan != "rebuild_fused":
        return every_operation(rows, width, hidden, "autograd")
    step = every_operation(rows, width, hidden, plan)
    for _ in range(2):
        step.remove(product(rows, width, hidden))
    return step
