"""The padded input is kept, and the winners are found again in the backward pass."""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward


def maxpool2d_forward(x, kernel, stride, padding=0):
    sides = (padding, padding)
    frame = np.pad(x, ((0, 0), (0, 0), sides, sides), constant_values=PAD)
    return right_forward(x, kernel, stride, padding)[0], (frame, kernel, stride, padding)


def maxpool2d_backward(grad_y, ctx):
    frame, kernel, stride, padding = ctx
    bottom, right = frame.shape[2] - padding, frame.shape[3] - padding
    x = frame[:, :, padding:bottom, padding:right]
    return right_backward(grad_y, right_forward(x, kernel, stride, padding)[1])
