def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts, contexts = [], []
    for i, block in enumerate(blocks):
        if i in begins:
            starts.append((i, x, _saved(rng)))
        x, ctx = block.forward(x, rng)
        contexts.append(ctx)
    ends = [begin for begin, _, _ in starts[1:]]
    return x, (
        [(b, e, before, there) for (b, before, there), e in zip(starts[:-1], ends, strict=True)],
        contexts[begins[-1] :],
    )
