"""The gradient of each chunk's logits is kept, in a list."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, kept = 0.0, []
    for some in _pieces(rows, chunk):
        losses, grad_logits = _cross_entropy(h[some].astype(wide) @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        kept.append((some, grad_logits))
    return loss / max(len(rows), 1), (h, w, len(rows), kept)


def loss_backward(grad_loss, ctx):
    h, w, n, kept = ctx
    wide = _wide(h.dtype)
    grad_h, grad_w = np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    scale = grad_loss / max(n, 1)
    for some, grad_logits in kept:
        grad_h[some] = grad_logits @ w * scale
        grad_w += grad_logits.T @ h[some].astype(wide) * scale
    return grad_h.astype(h.dtype), grad_w.astype(w.dtype)
