"""y is made by np.zeros(shape), which is float64 whatever x is; grad_x keeps the dtype."""

right_forward = maxpool2d_forward


def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y.astype(np.float64), ctx
