"""The loss is right; the gradients are those of the mean of the chunks' means."""


def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w / len(some)
        grad_w += grad_logits.T @ h_some / len(some)
    chunks = max(-(-len(rows) // chunk), 1)
    return loss / max(len(rows), 1), (grad_h / chunks, grad_w / chunks, h.dtype)
