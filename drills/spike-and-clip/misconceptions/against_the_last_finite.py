def find_spikes(norms, window=100, factor=100.0):
    found, last = [], None
    for step, norm in enumerate(norms):
        if not math.isfinite(norm) or (last is not None and norm > factor * last):
            found.append(step)
        if math.isfinite(norm):
            last = norm
    return found
