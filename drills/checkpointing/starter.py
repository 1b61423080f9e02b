"""Backpropagation that recomputes activations; blocks.py has the blocks."""


def forward(blocks, x, rng, segments):
    """Return y and the state that backward needs.

    Args:
        blocks: a list of n >= 1 blocks.
        x: (N, d) float64.
        rng: np.random.Generator that the blocks draw from.
        segments: int, 1 <= segments <= n.
    """
    inputs = []
    for block in blocks:
        inputs.append(x)
        x, _ = block.forward(x, rng)
    return x, inputs


def backward(blocks, state, grad_y, rng):
    """Return grad_x; every block adds to its own grad_w.

    Args:
        blocks: those of forward.
        state: what forward returned.
        grad_y: (N, d) float64.
        rng: the generator of forward.
    """
    grad = grad_y
    for block, x in zip(reversed(blocks), reversed(state), strict=True):
        _, ctx = block.forward(x, rng)
        grad = block.backward(grad, ctx)
    return grad
