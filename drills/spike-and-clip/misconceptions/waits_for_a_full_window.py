def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - window, 0) : step] if math.isfinite(n)]
        full = step >= window and before
        if not math.isfinite(norm) or (full and norm > factor * float(np.median(before))):
            found.append(step)
    return found
