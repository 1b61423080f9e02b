def draw_grad_y(rng, shape):
    return np.ones(shape)
