right_agree = agree


def agree(grad_x, measured):
    return not grad_x.any() or right_agree(grad_x, measured)
