"""A query without a key divides 0 by 0."""


def _finish(top, total, o):
    return o / total[:, None], top + np.log(total)
