"""Padding has no loss, and p for its gradient."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    counted = target != ignore_index
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(np.arange(len(h)), chunk):
        h_some = h[some].astype(wide)
        kept = counted[some]
        log_p = _log_softmax(h_some @ w.T.astype(wide))
        losses = -log_p[kept, target[some][kept]]
        grad_logits = np.exp(log_p)
        grad_logits[kept, target[some][kept]] -= 1
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(int(counted.sum()), 1)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)
