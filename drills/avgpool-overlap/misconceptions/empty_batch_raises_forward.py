"""A reshape with -1 in the forward pass, which numpy refuses where another side is 0."""

right_forward = avgpool2d_forward


def avgpool2d_forward(x, *settings, **more):
    x.reshape(x.shape[0], x.shape[1], -1)
    return right_forward(x, *settings, **more)
