"""The probabilities stay in the order of the sort."""


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        kept = _nucleus(_shares(row[_ranked(row, top_k)], temperature), top_p)
        own[: len(kept)] = kept / kept.sum()
    return p
