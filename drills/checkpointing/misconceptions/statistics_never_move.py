"""Every call is made as a repetition."""


def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts = []
    for begin, end in itertools.pairwise(begins):
        starts.append((begin, end, x, _saved(rng)))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng, again=True)
    x, contexts = _run(blocks[begins[-1] :], x, rng, True)
    return x, (starts, contexts)
