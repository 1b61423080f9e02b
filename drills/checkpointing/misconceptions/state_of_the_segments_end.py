def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        before = x
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng)
        starts.append((begin, end, before, _saved(rng)))
    x, contexts = _run(blocks[begins[-1] :], x, rng, False)
    return x, (starts, contexts)
