def clip(grads, max_norm):
    norm = norm_of(grads)
    scale = scale_of(norm, max_norm)
    for g in grads:
        flat = g.reshape(-1)
        flat *= scale
    return norm
