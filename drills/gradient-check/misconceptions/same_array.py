def slope(forward, grad_y, x, place):
    up = down = x.copy()
    up[place] += STEP
    above = np.sum(grad_y * forward(up))
    down[place] -= STEP
    below = np.sum(grad_y * forward(down))
    return (above - below) / (2 * STEP)
