def find_spikes(norms, window=100, factor=100.0):
    return [i for i, norm in enumerate(norms) if not math.isfinite(norm) or norm > factor]
