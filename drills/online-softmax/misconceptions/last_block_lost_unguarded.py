"""Only full blocks are read; where there is none, 0 is divided by 0."""


def _blocks(count, block):
    for start in range(0, count - block + 1, block):
        yield slice(start, start + block)


def _finish(top, total, o):
    return o / total[:, None], top + np.log(total)
