"""Every segment is run again, the last one too, from wherever the generator stands."""


def forward(blocks, x, rng, segments):
    begins = [*_begins(len(blocks), segments), len(blocks)]
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        starts.append((begin, end, x))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng)
    return x, starts


def backward(blocks, state, grad_y, rng):
    grad = grad_y
    for begin, end, x in reversed(state):
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    return grad
