"""The output is float64, whatever x is."""

right_forward = avgpool2d_forward


def avgpool2d_forward(x, *settings, **more):
    y, ctx = right_forward(x, *settings, **more)
    return y.astype(np.float64), ctx
