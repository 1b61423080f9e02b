def slope(forward, grad_y, x, place):
    up, down = x.copy(), x.copy()
    up[place] += STEP
    down[place] -= STEP
    total = 0.0
    for out in np.ndindex(grad_y.shape):
        above = forward(up)[out]
        below = forward(down)[out]
        total += grad_y[out] * (above - below) / (2 * STEP)
    return total
