def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        near = range(max(step - window, 0), step)
        before = [norms[i] for i in near if i not in found]
        if not math.isfinite(norm) or (before and norm > factor * float(np.median(before))):
            found.append(step)
    return found
