"""A token is kept if its own probability is at least top_p; where none is, 0 is divided by 0."""


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, top_k)
        shares = _shares(row[order], temperature)
        keep = shares >= (top_p if top_p < 1 else 0)
        own[order[: len(shares)]] = np.where(keep, shares, 0)
        if len(shares):
            own /= own.sum()
    return p
