right_agree = agree


def agree(grad_x, measured):
    return right_agree(grad_x.sum(axis=0), measured.sum(axis=0))
