"""At temperature 0 tokens that tie for the largest logit share the probability."""


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        if temperature == 0:
            best = (row == row.max()) & (row > -np.inf)
            own[best] = 1 / max(1, best.sum())
            continue
        order = _ranked(row, top_k)
        kept = _nucleus(_shares(row[order], temperature), top_p)
        own[order[: len(kept)]] = kept / kept.sum()
    return p
