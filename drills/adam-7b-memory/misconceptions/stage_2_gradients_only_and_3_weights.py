"""Each stage shards one thing: 1 the optimizer state, 2 the gradients, 3 the weights."""

ZERO = {**ZERO, 2: (14, 2), 3: (14, 2)}
