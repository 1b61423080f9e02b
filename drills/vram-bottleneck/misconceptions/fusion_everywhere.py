"""Counts fused element-wise kernels in every plan."""

every_operation = operations


def operations(rows, width, hidden, plan):
    step = every_operation(rows, width, hidden, "rebuild_fused")
    if plan == "autograd":
        for _ in range(2):
            step.remove(product(rows, width, hidden))
    return step
