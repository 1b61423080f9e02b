def is_usable(loss, grads):
    return True


def scale_of(norm, max_norm):
    return 1.0 if norm <= max_norm else max_norm / norm
