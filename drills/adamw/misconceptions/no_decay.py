"""Nothing decays."""


def _decayed(p, lr, decay):
    return p.copy()
