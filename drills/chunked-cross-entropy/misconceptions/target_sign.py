"""The gradient of the logits has the opposite sign."""

def _cross_entropy(logits, target):
    picked = np.arange(len(target)), target
    log_p = _log_softmax(logits)
    grad_logits = np.exp(log_p)
    grad_logits[picked] -= 1
    grad_logits *= -1
    return -log_p[picked], grad_logits
