def centre(x, w):
    d = _centred(x)
    return d, (d, np.array(w))
