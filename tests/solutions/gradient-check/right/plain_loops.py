"""Plain Python loops over lists of floats."""

import math

import numpy as np


def gradient_is_right(forward, backward, x, rng):
    rows = [[float(v) or 0.25 for v in row] for row in x]
    shape = forward(np.array(rows)).shape
    count = math.prod(shape)
    weights = [float(rng.normal()) for _ in range(count)]
    grad_y = np.array(weights).reshape(shape)
    point = np.array(rows)
    grad_x = backward(grad_y, point)
    if point.tolist() != rows or grad_y.ravel().tolist() != weights:
        return False
    if list(grad_x.shape) != [len(rows), len(rows[0])]:
        return False

    def total(table):
        values = forward(np.array(table)).ravel().tolist()
        return math.fsum(w * v for w, v in zip(weights, values, strict=True))

    pairs = []
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            sums = []
            for h in (4e-6, -4e-6):
                moved = [list(r) for r in rows]
                moved[i][j] = value + h
                sums.append(total(moved))
            pairs.append((float(grad_x[i, j]), (sums[0] - sums[1]) / 8e-6))
    largest = max(abs(m) for _, m in pairs)
    return all(abs(g - m) <= 1e-5 * largest for g, m in pairs)
