"""sample draws before the filters."""


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature)
    return np.array([_draw(row, number) for row, number in zip(p, u, strict=True)], np.int64)
