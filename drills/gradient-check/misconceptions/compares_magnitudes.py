right_agree = agree


def agree(grad_x, measured):
    return right_agree(np.abs(grad_x), np.abs(measured))
