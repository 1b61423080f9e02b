"""Has autograd keep 17 times the elements of x, whatever F is."""


def kept_elements(rows, width, hidden, plan):
    return (17 if plan == "autograd" else 1) * rows * width
