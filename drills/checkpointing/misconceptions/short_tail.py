def _begins(n, segments):
    return list(range(0, n, -(-n // segments)))
