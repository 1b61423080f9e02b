"""Stage 1 shards the gradients, stage 2 the optimizer state as well."""

ZERO = {**ZERO, 1: (14, 2)}
