def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        around = [n for n in norms[max(step + 1 - window, 0) : step + 1] if math.isfinite(n)]
        if not math.isfinite(norm) or norm > factor * float(np.median(around)):
            found.append(step)
    return found
