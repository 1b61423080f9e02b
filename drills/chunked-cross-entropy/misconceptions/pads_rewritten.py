"""The target of padding becomes 0 in the caller's array."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    counted = target != ignore_index
    target[~counted] = 0
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(np.arange(len(h)), chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        grad_logits[~counted[some]] = 0
        loss += float(losses[counted[some]].sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(int(counted.sum()), 1)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)
