"""The mask of the nucleus is made in sorted order and used in that of the vocabulary."""


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, top_k)
        shares = _shares(row[order], temperature)
        own[order[: len(shares)]] = shares
        if top_p < 1:
            own[len(_nucleus(shares, top_p)) :] = 0
            own /= own.sum()
    return p
