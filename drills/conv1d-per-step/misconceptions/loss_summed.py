"""The loss that is returned is the sum of the squared errors; the step is that of their mean."""

right_step = train_step


def train_step(w, b, x, target, lr, stride=1, padding=0):
    w_new, b_new, loss = right_step(w, b, x, target, lr, stride, padding)
    return w_new, b_new, loss * target.size
