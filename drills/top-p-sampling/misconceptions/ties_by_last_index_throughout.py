"""An ascending order is turned round, so that of equal logits the last comes first."""


def _ranked(row, top_k):
    order = np.argsort(row, kind="stable")[::-1][: np.count_nonzero(row > -np.inf)]
    return order[: top_k or len(row)]
