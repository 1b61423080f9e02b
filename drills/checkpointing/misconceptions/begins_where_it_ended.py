def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        there = _saved(rng)
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng)
        starts.append((begin, end, x, there))
    x, contexts = _run(blocks[begins[-1] :], x, rng, False)
    return x, (starts, contexts)
