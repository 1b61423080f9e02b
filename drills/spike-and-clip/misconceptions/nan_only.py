def is_usable(loss, grads):
    return not (np.isnan(loss) or any(np.any(np.isnan(g)) for g in grads))
