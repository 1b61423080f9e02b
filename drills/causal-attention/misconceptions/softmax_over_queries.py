"""The weights that all queries give to one key sum to 1."""


def _attended(q, k, v, keep):
    visible = np.broadcast_to(_visible(0, q.shape[2], keep), (*q.shape[:3], q.shape[2]))
    scores = _scores(q, k).transpose(0, 1, 3, 2)
    return _weights(scores, visible.transpose(0, 1, 3, 2)).transpose(0, 1, 3, 2) @ v
