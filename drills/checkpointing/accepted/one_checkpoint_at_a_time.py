"""As in exercises: segments of contexts or of inputs, written out; dropout is not thought of yet."""


def forward(blocks, x, rng, segments):
    n = len(blocks)
    sizes = [n // segments + (1 if i < n % segments else 0) for i in range(segments)]
    checkpoints = []
    start = 0
    for size in sizes[:-1]:
        checkpoints.append((start, start + size, x))
        for block in blocks[start : start + size]:
            x = block.forward(x, rng)[0]
        start += size
    activations = []
    for block in blocks[start:]:
        x, ctx = block.forward(x, rng)
        activations.append(ctx)
    return x, {"checkpoints": checkpoints, "activations": activations, "last": start}


def backward(blocks, state, grad_y, rng):
    grad = grad_y
    for block, ctx in zip(
        reversed(blocks[state["last"] :]), reversed(state["activations"]), strict=True
    ):
        grad = block.backward(grad, ctx)
    for start, end, x in reversed(state["checkpoints"]):
        activations = []
        for block in blocks[start:end]:
            x, ctx = block.forward(x, rng, again=True)
            activations.append(ctx)
        for block, ctx in zip(reversed(blocks[start:end]), reversed(activations), strict=True):
            grad = block.backward(grad, ctx)
    return grad
