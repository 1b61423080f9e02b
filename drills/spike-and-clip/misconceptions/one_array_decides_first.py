def norm_of(grads):
    return float(np.linalg.norm(grads[0]))
