"""An ascending order is turned round, so that of equal logits the last comes first; argmax at 0."""


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = np.argsort(row, kind="stable")[::-1][: np.count_nonzero(row > -np.inf)]
        order = order[: top_k or len(row)]
        if temperature == 0 and len(order):
            own[np.argmax(row)] = 1
            continue
        kept = _nucleus(_shares(row[order], temperature), top_p)
        own[order[: len(kept)]] = kept / kept.sum()
    return p
