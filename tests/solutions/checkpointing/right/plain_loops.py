"""Right: plain loops over indices, numbers only in lists."""


def forward(blocks, x, rng, segments):
    n = len(blocks)
    begins = []
    i = 0
    while i < segments:
        begins.append(i * n // segments)
        i += 1
    inputs = []
    places = []
    contexts = []
    segment = 0
    i = 0
    while i < n:
        if segment < segments and begins[segment] == i:
            inputs.append(x)
            places.append(rng.bit_generator.state)
            segment += 1
        x, ctx = blocks[i].forward(x, rng)
        if segment == segments:
            contexts.append(ctx)
        i += 1
    return x, [begins, inputs, places, contexts]


def backward(blocks, state, grad_y, rng):
    begins, inputs, places, contexts = state
    before = rng.bit_generator.state
    grad = grad_y
    end = len(blocks)
    segment = len(begins) - 1
    while segment >= 0:
        begin = begins[segment]
        if not contexts:
            rng.bit_generator.state = places[segment]
            x = inputs[segment]
            i = begin
            while i < end:
                x, ctx = blocks[i].forward(x, rng, True)
                contexts.append(ctx)
                i += 1
        i = end - 1
        while i >= begin:
            grad = blocks[i].backward(grad, contexts.pop())
            i -= 1
        end = begin
        segment -= 1
    rng.bit_generator.state = before
    return grad


def best_segments(n, weight):
    best = 1
    least = weight * n
    s = 1
    while s <= n:
        longest = n // s
        if longest * s < n:
            longest += 1
        if s - 1 + weight * longest < least:
            best = s
            least = s - 1 + weight * longest
        s += 1
    return best
