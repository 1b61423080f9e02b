"""As in torch.utils.checkpoint: a function per segment, its arguments and the random state kept."""


class CheckpointFunction:
    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, x, rng):
        ctx.run_function = run_function
        ctx.preserve_rng_state = preserve_rng_state
        if preserve_rng_state:
            ctx.fwd_cpu_state = rng.bit_generator.state
        ctx.saved = x
        return run_function(x, rng, False)[0]

    @staticmethod
    def backward(ctx, blocks, grad, rng):
        now = rng.bit_generator.state
        try:
            if ctx.preserve_rng_state:
                rng.bit_generator.state = ctx.fwd_cpu_state
            _, contexts = ctx.run_function(ctx.saved, rng, True)
        finally:
            rng.bit_generator.state = now
        return run_backward(blocks, contexts, grad)


class Saved:
    pass


def run_function(start, end, functions):
    def forward(x, rng, again):
        contexts = []
        for j in range(start, end + 1):
            x, ctx = functions[j].forward(x, rng, again=again)
            contexts.append(ctx)
        return x, contexts

    return forward


def run_backward(blocks, contexts, grad):
    for block, ctx in zip(blocks[::-1], contexts[::-1], strict=True):
        grad = block.backward(grad, ctx)
    return grad


def forward(blocks, x, rng, segments):
    if not 1 <= segments <= len(blocks):
        raise ValueError("segments must be between 1 and the number of blocks")
    segment_size = len(blocks) // segments
    # the last chunk has to be non-volatile
    end, saved = -1, []
    for start in range(0, segment_size * (segments - 1), segment_size):
        end = start + segment_size - 1
        ctx = Saved()
        ctx.bounds = start, end + 1
        x = CheckpointFunction.forward(ctx, run_function(start, end, blocks), True, x, rng)
        saved.append(ctx)
    x, contexts = run_function(end + 1, len(blocks) - 1, blocks)(x, rng, False)
    return x, (saved, end + 1, contexts)


def backward(blocks, state, grad_y, rng):
    saved, start, contexts = state
    grad = run_backward(blocks[start:], contexts, grad_y)
    for ctx in reversed(saved):
        begin, end = ctx.bounds
        grad = CheckpointFunction.backward(ctx, blocks[begin:end], grad, rng)
    return grad
