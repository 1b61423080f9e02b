def slopes(forward, grad_y, x):
    return slope(forward, grad_y, x, (0, 0))


def agree(grad_x, measured):
    return abs(grad_x[0, 0] - measured) <= TOLERANCE * abs(measured)
