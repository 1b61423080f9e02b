def slope(forward, grad_y, x, place):
    x = x.astype(np.float32)
    up, down = x.copy(), x.copy()
    up[place] += np.float32(STEP)
    down[place] -= np.float32(STEP)
    return (np.sum(grad_y * forward(up)) - np.sum(grad_y * forward(down))) / (2 * STEP)


def gradient_is_right(forward, backward, x, rng):
    x = off_the_kinks(x)
    grad_y = draw_grad_y(rng, forward(x.astype(np.float32)).shape)
    grad_x, untouched = call_backward(backward, grad_y, x)
    return bool(untouched) and bool(agree(grad_x, slopes(forward, grad_y, x)))
