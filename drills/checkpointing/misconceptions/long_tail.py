def _begins(n, segments):
    return [i * (n // segments) for i in range(segments)]
