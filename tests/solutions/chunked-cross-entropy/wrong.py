# %% divides_by_every_token
"""Wrong: loss and gradients are divided by all tokens, padding included."""

import numpy as np
def loss_forward(h, w, target, chunk, ignore_index=-100):
    n = max(int((target != ignore_index).sum()), 1); total = 0.0; parts = 0
    gh, gw = np.zeros(h.shape), np.zeros(w.shape)
    for a in range(0, len(h), chunk):
        x, t = h[a:a + chunk].astype(np.float64), target[a:a + chunk]; keep = t != ignore_index; t = np.where(keep, t, 0)
        z = x @ w.T.astype(np.float64); z = z - z.max(1, keepdims=True); lp = z - np.log(np.exp(z).sum(1, keepdims=True))
        i = np.arange(len(t)); g = np.exp(lp); g[i, t] -= 1; g *= keep[:, None]
        d = len(h)
        total += -(lp[i, t] * keep).sum() / d; gh[a:a + chunk] = g @ w / d; gw += g.T @ x / d
    return float(total), (gh, gw, h.dtype)
def loss_backward(grad_loss, ctx):
    gh, gw, dt = ctx
    return (grad_loss * gh).astype(dt), (grad_loss * gw).astype(dt)
