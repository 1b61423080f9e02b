"""What top_p keeps is not rescaled."""


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, top_k)
        kept = _nucleus(_shares(row[order], temperature), top_p)
        own[order[: len(kept)]] = kept
    return p
