def clip(grads, max_norm):
    norm = norm_of(grads)
    scale = scale_of(norm, max_norm)
    grads[:] = [g * scale for g in grads]
    return norm
