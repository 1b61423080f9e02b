def clip(grads, max_norm):
    norm = norm_of(grads)
    for g in grads:
        g *= scale_of(norm_of([g]), max_norm)
    return norm
