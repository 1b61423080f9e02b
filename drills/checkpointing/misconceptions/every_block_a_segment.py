def _begins(n, segments):
    return list(range(n))
