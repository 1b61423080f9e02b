# %% mean-is-constant
# killed_by: [backward, slopes]
"""The mean depends on every entry of its row, so each entry has a second path through it."""

def centre_backward(grad_y, ctx):
    d, w = ctx
    return w * grad_y, grad_y * d

# %% forgot-weight
# killed_by: forward
"""You left the weight out."""

def centre(x, w):
    d = _centred(x)
    return d, (d, np.array(w))
