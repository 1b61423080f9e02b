"""One sum for all queries is subtracted."""


def _correction(grad_o, o):
    return (grad_o * o).sum()
