def clip(grads, max_norm):
    norm = norm_of(grads)
    for g in grads:
        np.clip(g, -max_norm, max_norm, out=g)
    return norm
