"""Neither what top_k keeps nor what top_p keeps is rescaled."""


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, 0)
        shares = _shares(row[order], temperature)[: top_k or len(row)]
        kept = _nucleus(shares, top_p)
        own[order[: len(kept)]] = kept
    return p
