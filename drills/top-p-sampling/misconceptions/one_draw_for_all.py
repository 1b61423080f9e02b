"""The first u serves all rows."""


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    return np.array([_draw(row, u[0]) for row in p], np.int64)
