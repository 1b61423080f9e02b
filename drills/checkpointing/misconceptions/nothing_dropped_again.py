"""Repetitions drop nothing."""

_repeated = _run


def _run(blocks, x, rng, again):
    rates = [block.drop for block in blocks]
    for block in blocks if again else ():
        block.drop = 0.0
    found = _repeated(blocks, x, rng, again)
    for block, rate in zip(blocks, rates, strict=True):
        block.drop = rate
    return found
