"""The keys are halved until a half fits into a block; results of halves are merged."""

import numpy as np


def attend(q, k, v, block, mask=None):
    def part(first, last):
        if last - first > block:
            middle = (first + last) // 2
            return merge(*part(first, middle), *part(middle, last))
        s = scores(q, k, first, last, mask)
        top = np.nan_to_num(s.max(axis=1), neginf=0.0)
        e = np.exp(s - top[:, None])
        return normalized(top, e.sum(axis=1), e @ v[first:last])

    return part(0, len(k))


def scores(q, k, first, last, mask):
    s = q @ k[first:last].T / q.shape[1] ** 0.5
    if mask is not None:
        np.copyto(s, -np.inf, where=~mask[:, first:last])
    return s


def normalized(top, total, sums):
    o = np.divide(sums, total[:, None], out=np.zeros_like(sums), where=total[:, None] > 0)
    log = np.log(total, out=np.full_like(total, -np.inf), where=total > 0)
    return o, top + log


def merge(o1, lse1, o2, lse2):
    # The weight of the second side is the logistic function of the difference, in its stable form.
    gap = np.subtract(lse2, lse1, out=np.zeros_like(lse1), where=np.isfinite(lse1) & np.isfinite(lse2))
    gap[np.isneginf(lse2)] = -np.inf
    gap[np.isneginf(lse1)] = np.inf
    small = np.exp(-np.abs(gap))
    share = np.where(gap > 0, 1, small) / (1 + small)
    rest = np.where(gap > 0, small, 1) / (1 + small)
    return rest[:, None] * o1 + share[:, None] * o2, np.logaddexp(lse1, lse2)


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    scale = q.shape[1] ** -0.5
    take_off = np.nan_to_num(lse, neginf=0.0)[:, None]
    dot = np.vecdot(grad_o, o)[:, None] if hasattr(np, "vecdot") else (grad_o * o).sum(1)[:, None]

    def part(first, last):
        if last - first > block:
            middle = (first + last) // 2
            q1, k1, v1 = part(first, middle)
            q2, k2, v2 = part(middle, last)
            return q1 + q2, np.vstack([k1, k2]), np.vstack([v1, v2])
        p = np.exp(scores(q, k, first, last, mask) - take_off)
        ds = p * (grad_o @ v[first:last].T - dot)
        return scale * ds @ k[first:last], scale * ds.T @ q, p.T @ grad_o

    return part(0, len(k))
