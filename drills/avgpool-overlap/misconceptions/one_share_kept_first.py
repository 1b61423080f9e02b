"""A cell keeps the share of the first of its windows: it is assigned, one place in the window after the other."""


def _spread(share, frame, ctx):
    for rows, columns in _places(ctx):
        frame[:, :, rows, columns] = share
