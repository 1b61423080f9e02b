def call_backward(backward, grad_y, x):
    given = x.copy()
    return backward(grad_y.copy(), given), (given == x).all()
