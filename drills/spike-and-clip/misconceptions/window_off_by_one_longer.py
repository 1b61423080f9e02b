def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - window - 1, 0) : step] if math.isfinite(n)]
        if not math.isfinite(norm) or (before and norm > factor * float(np.median(before))):
            found.append(step)
    return found
