"""top_p is measured on the shares in the whole vocabulary; of what it keeps k tokens stay."""


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, 0)
        kept = _nucleus(_shares(row[order], temperature), top_p)[: top_k or len(row)]
        own[order[: len(kept)]] = kept / kept.sum()
    return p
