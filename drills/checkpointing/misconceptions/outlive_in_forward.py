def forward(blocks, x, rng, segments):
    begins = [*_begins(len(blocks), segments), len(blocks)]
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        starts.append((begin, end, x, _saved(rng)))
        x, contexts = _run(blocks[begin:end], x, rng, False)
    return x, (starts[:-1], contexts)
