class _Recorder:
    def __init__(self, rng):
        self.rng = rng
        self.drawn = []

    def random(self, *shape):
        self.drawn.append(self.rng.random(*shape))
        return self.drawn[-1]


class _Player:
    def __init__(self, drawn):
        self.drawn = iter(drawn)

    def random(self, *_):
        return next(self.drawn)


def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        recorder = _Recorder(rng)
        starts.append((begin, end, x, recorder.drawn))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, recorder)
    x, contexts = _run(blocks[begins[-1] :], x, rng, False)
    return x, (starts, contexts)


def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, drawn in reversed(starts):
        _, contexts = _run(blocks[begin:end], x, _Player(drawn), True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    return grad
