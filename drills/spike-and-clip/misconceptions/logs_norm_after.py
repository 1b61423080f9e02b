def clip(grads, max_norm):
    scale = scale_of(norm_of(grads), max_norm)
    for g in grads:
        g *= scale
    return norm_of(grads)
