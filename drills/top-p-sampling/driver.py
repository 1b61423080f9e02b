"""Which tokens have weight."""

import numpy as np


def support(program, logits, temperature, top_k, top_p):
    """Return which probabilities are positive, (B, V) bool."""
    p = program.probs(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    return np.asarray(p) > 0
