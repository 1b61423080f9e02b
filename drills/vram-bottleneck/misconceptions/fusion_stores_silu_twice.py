"""Has both fused kernels write s as well."""

every_operation = operations


def operations(rows, width, hidden, plan):
    step = every_operation(rows, width, hidden, plan)
    if plan == "rebuild_fused":
        step.remove(elementwise(2, 1, rows * hidden))
        step.remove(elementwise(3, 3, rows * hidden))
        step += [elementwise(2, 2, rows * hidden), elementwise(3, 4, rows * hidden)]
    return step
