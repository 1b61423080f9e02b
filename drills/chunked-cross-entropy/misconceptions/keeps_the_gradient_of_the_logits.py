"""The gradient of all logits is kept for the backward pass."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, kept = 0.0, np.zeros((len(rows), len(w)), wide)
    for at in _pieces(np.arange(len(rows)), chunk):
        some = rows[at]
        logits = h[some].astype(wide) @ w.T.astype(wide)
        losses, grad_logits = _cross_entropy(logits, target[some])
        loss += float(losses.sum())
        kept[at] = grad_logits
    return loss / max(len(rows), 1), (h, w, target, rows, kept)


def loss_backward(grad_loss, ctx):
    h, w, target, rows, kept = ctx
    wide = kept.dtype
    grad_logits = kept
    scale = grad_loss / max(len(rows), 1)
    grad_h, grad_w = np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    grad_h[rows] = grad_logits @ w * scale
    grad_w += grad_logits.T @ h[rows].astype(wide) * scale
    return grad_h.astype(h.dtype), grad_w.astype(w.dtype)
