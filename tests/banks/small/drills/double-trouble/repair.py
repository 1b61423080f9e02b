def double(x):
    # why: x + x is 2 * x already.
    return 2 * x
