"""One step of training, its gradients clipped to a norm of max_norm at most."""

import numpy as np


def clip(grads, max_norm):
    """Scale long gradients down in place, and return the norm that they had."""
    norms = [float(np.sqrt(np.sum(g * g))) for g in grads]
    # why: One factor for all arrays keeps the direction; a factor for each
    #      array makes another direction, and leaves a norm above max_norm.
    total = float(np.sqrt(np.sum(np.square(norms))))
    if total > max_norm:
        for g in grads:
            g *= max_norm / total
    return total


def train_step(params, batch, loss_and_grads, opt, max_norm):
    """Make one step with the gradients of a batch; return what to log."""
    loss, grads = loss_and_grads(params, batch)
    # why 2: Neither the weights nor Adam's moments may see what is not
    #      finite: NaN times any factor is NaN, and infinity times 0 is too.
    if not all(np.all(np.isfinite(x)) for x in (loss, *grads)):
        return {"loss": loss, "grad_norm": float("nan"), "skipped": True}
    # why: What is clipped after the step has moved the weights already.
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    # why: The log says which steps were skipped, as part 2 asks.
    return {"loss": loss, "grad_norm": norm, "skipped": False}


# why 3: The median of the finite norms is not moved by one spike, and a norm
#      that is not finite is one by itself.
def find_spikes(norms, window=100, factor=100.0):
    """Return the steps whose norm stands out from those before it."""
    found = []
    for step, norm in enumerate(norms):
        before = np.array(norms[max(step - window, 0) : step])
        before = before[np.isfinite(before)]
        level = np.median(before) if before.size else np.inf
        if not np.isfinite(norm) or norm > factor * level:
            found.append(step)
    return found


# why 3: The gradient is in both moments, so its size cancels in the step; the
#      first moment forgets it after tens of steps, the second after
#      thousands.
WHY = {"next": "c", "climb": "a", "stuck": "b"}
