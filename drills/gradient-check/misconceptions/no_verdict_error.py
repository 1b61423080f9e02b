def gradient_is_right(forward, backward, x, rng):
    x = off_the_kinks(x)
    grad_y = draw_grad_y(rng, forward(x).shape)
    measured = slopes(forward, grad_y, x)
    return np.abs(call_backward(backward, grad_y, x)[0] - measured).max()
