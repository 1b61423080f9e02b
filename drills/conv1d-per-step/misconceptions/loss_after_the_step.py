"""The loss is computed with the new weights."""

right_step = train_step


def train_step(w, b, x, target, lr, stride=1, padding=0):
    w_new, b_new, _ = right_step(w, b, x, target, lr, stride, padding)
    y, _ = conv1d_forward(x, w_new, b_new, stride, padding)
    return w_new, b_new, float(np.mean((y - target) ** 2))
