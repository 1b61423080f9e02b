def clip(grads, max_norm):
    norms = [norm_of([g]) for g in grads]
    for g, norm in zip(grads, norms):
        g *= scale_of(norm, max_norm)
    return max(norms)
