"""Wrong: the reference has no term in the margin; hidden states and tokens are masked as a whole."""

import numpy as np
def lsm(z):
    z = z - z.max(-1, keepdims=True); return z - np.log(np.exp(z).sum(-1, keepdims=True))
def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta):
    P = len(tokens) // 2; sc = alpha / len(a); t = np.arange(1, tokens.shape[1])
    ans = (t >= prompt[:, None]) & (t < length[:, None]); h = hidden[:, :-1]; y = tokens[:, 1:, None]
    lp = lsm(h @ weight.T + sc * (h @ a.T) @ b.T); lr = lsm(h @ weight.T)
    s = (np.take_along_axis(lp, y, 2)[..., 0] * ans).sum(1)
    r = np.zeros(len(s))
    m = beta * ((s[:P] - s[P:]) - (r[:P] - r[P:]))
    loss = np.logaddexp(0, -m).mean(); d = -1 / (1 + np.exp(m)) / P * beta
    g = -np.exp(lp); np.put_along_axis(g, y, 1 + np.take_along_axis(g, y, 2), 2)
    g *= (np.concatenate([d, -d])[:, None] * ans)[..., None]
    return float(loss), sc * np.einsum("ntr,ntd->rd", g @ b, h), sc * np.einsum("ntv,ntr->vr", g, h @ a.T)
