"""Sums leave padding out; the divisor does not."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = len(h)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)
