"""The tokens are chosen at temperature 1; the temperature is applied to what is left."""


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, top_k)
        chosen = order[: len(_nucleus(_shares(row[order], 1.0), top_p))]
        shares = _shares(row[chosen], temperature)
        own[chosen[: len(shares)]] = shares
    return p
