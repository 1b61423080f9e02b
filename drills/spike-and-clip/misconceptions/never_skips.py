def is_usable(loss, grads):
    return True
