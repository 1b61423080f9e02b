right_check = gradient_is_right


def gradient_is_right(forward, backward, x, rng):
    if not right_check(forward, backward, x, rng):
        return False
