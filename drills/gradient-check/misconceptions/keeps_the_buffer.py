def slope(forward, grad_y, x, place):
    up, down = x.copy(), x.copy()
    up[place] += STEP
    down[place] -= STEP
    above, below = forward(up), forward(down)
    return np.sum(grad_y * (above - below)) / (2 * STEP)
