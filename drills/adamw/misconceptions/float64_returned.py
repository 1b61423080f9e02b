"""The moments are float64, and so is what comes out."""


def _fresh(p):
    return {"m": np.zeros(p.shape), "v": np.zeros(p.shape), "steps": 0}


def _decayed(p, lr, decay):
    return p.astype(np.float64) * (1 - lr * decay)
