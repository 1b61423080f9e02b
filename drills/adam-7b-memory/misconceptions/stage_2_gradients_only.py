"""Each stage shards one thing: 1 the optimizer state, 2 the gradients, 3 everything."""

ZERO = {**ZERO, 2: (14, 2)}
