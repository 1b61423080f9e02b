def find_spikes(norms, window=100, factor=100.0):
    found, usual = [], []
    for step, norm in enumerate(norms):
        before = usual[-window:]
        if not math.isfinite(norm) or (before and norm > factor * float(np.median(before))):
            found.append(step)
        else:
            usual.append(norm)
    return found
