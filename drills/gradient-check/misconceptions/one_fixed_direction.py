def slopes(forward, grad_y, x):
    above = np.sum(grad_y * forward(x + STEP))
    below = np.sum(grad_y * forward(x - STEP))
    return (above - below) / (2 * STEP)


def agree(grad_x, measured):
    return np.allclose(np.sum(grad_x), measured, rtol=1e-5, atol=1e-8)
