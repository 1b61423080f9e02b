"""Has autograd keep three tensors of the hidden width."""


def kept_elements(rows, width, hidden, plan):
    return rows * width + (3 * rows * hidden if plan == "autograd" else 0)
