"""The gradient of the logits is p - 1 at the target and 0 elsewhere."""

def _cross_entropy(logits, target):
    picked = np.arange(len(target)), target
    log_p = _log_softmax(logits)
    grad_logits = np.zeros_like(log_p)
    grad_logits[picked] = np.exp(log_p[picked]) - 1
    return -log_p[picked], grad_logits
