"""The moments are float64; what comes out has the dtype of the parameters."""

right_step = step


def _fresh(p):
    return {"m": np.zeros(p.shape), "v": np.zeros(p.shape), "steps": 0}


def _move(own, lr, beta1, beta2, eps):
    root = np.sqrt(own["v"] / _correction(beta2, own["steps"])) + eps
    return lr * (own["m"] / _correction(beta1, own["steps"])) / root


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    wide = [p.astype(np.float64) for p in params]
    new, state = right_step(wide, grads, state, lr, beta1, beta2, eps, decay)
    return [w.astype(p.dtype) for p, w in zip(params, new)], state
