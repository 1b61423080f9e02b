"""Both passes take windows that stand side by side, whatever the stride is."""

right_frame = _frame


def _frame(ctx):
    """Leave room for windows that stand farther apart than they should."""
    frame = right_frame(ctx)
    down, across = (ctx.kernel * outputs for outputs in ctx.divisor.shape)
    sides = max(down, frame.shape[2]), max(across, frame.shape[3])
    return np.zeros((*frame.shape[:2], *sides), frame.dtype)


def _places(ctx):
    down, across = (ctx.kernel * (outputs - 1) + 1 for outputs in ctx.divisor.shape)
    for row in range(ctx.kernel):
        for column in range(ctx.kernel):
            yield slice(row, row + down, ctx.kernel), slice(column, column + across, ctx.kernel)
