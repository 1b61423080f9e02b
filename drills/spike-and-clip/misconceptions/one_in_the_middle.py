def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - window, 0) : step] if math.isfinite(n)]
        if not math.isfinite(norm) or (before and norm > factor * sorted(before)[len(before) // 2]):
            found.append(step)
    return found
