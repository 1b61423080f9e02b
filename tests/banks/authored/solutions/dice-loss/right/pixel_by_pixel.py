def dice_forward(p, target, smooth):
    total, kept = 0.0, []
    for row, truth in zip(p.tolist(), target.tolist()):
        overlap = sum(a * b for a, b in zip(row, truth))
        size = sum(row) + sum(truth)
        total += 1 - (2 * overlap + smooth) / (size + smooth)
        kept.append((2 * overlap + smooth, size + smooth))
    return total / len(p), (kept, target.copy())


def dice_backward(grad_loss, ctx):
    kept, target = ctx
    grad = target.copy()
    for n, (top, bottom) in enumerate(kept):
        for m in range(target.shape[1]):
            slope = (2 * target[n, m] * bottom - top) / bottom**2
            grad[n, m] = -grad_loss * slope / len(target)
    return grad
