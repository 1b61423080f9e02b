"""Only full blocks are read; where there is none, the output is 0."""


def _blocks(count, block):
    for start in range(0, count - block + 1, block):
        yield slice(start, start + block)
