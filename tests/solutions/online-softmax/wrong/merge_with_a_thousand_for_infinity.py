"""Wrong: merge takes -1,000 for minus infinity, so a side without keys outweighs one with small scores."""

from collections.abc import Iterator

import numpy as np

State = tuple[np.ndarray, np.ndarray, np.ndarray]  # (T,), (T,), (T, e): top, total, o


def attend(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the attention of the queries to the keys.

    Args:
        q: (T, d) float64, any strides; never modified, as all inputs.
        k: (S, d) float64.
        v: (S, e) float64.
        block: how many keys are read at a time, at least 1.
        mask: (T, S) bool, True where a query may look at a key; None: everywhere.

    Returns:
        o: (T, e) float64; 0 for a query that may look at no key.
        lse: (T,) float64, log of the sum of exp(scores); minus infinity for such a query.
    """
    state = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for keys in _blocks(len(k), block):
        state = _add(state, _scores(q, k, mask, keys), v[keys])
    return _finish(*state)


def merge(
    o1: np.ndarray, lse1: np.ndarray, o2: np.ndarray, lse2: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what `attend` gives over two disjoint sets of keys, from its results over each.

    Args:
        o1: (T, e) float64.
        lse1: (T,) float64.
        o2: as o1, over other keys.
        lse2: as lse1.

    Returns:
        o: (T, e) float64.
        lse: (T,) float64.
    """
    none = np.isinf(lse1) & np.isinf(lse2)
    lse1 = np.where(np.isinf(lse1), -1000.0, lse1)
    lse2 = np.where(np.isinf(lse2), -1000.0, lse2)
    top = np.maximum(lse1, lse2)
    first, second = np.exp(lse1 - _floor(top)), np.exp(lse2 - _floor(top))
    o, lse = _finish(top, first + second, first[:, None] * o1 + second[:, None] * o2)
    return np.where(none[:, None], 0, o), np.where(none, -np.inf, lse)


def attend_backward(
    grad_o: np.ndarray,
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    o: np.ndarray,
    lse: np.ndarray,
    block: int,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the gradients of the sum of grad_o * o.

    Args:
        grad_o: (T, e) float64.
        q: (T, d) float64, as k, v, block and mask what `attend` was called with.
        k: (S, d) float64.
        v: (S, e) float64.
        o: (T, e) float64, over these keys or over more; then grad_q is the share of these keys.
        lse: (T,) float64, over the same keys as o.
        block: how many keys are read at a time.
        mask: (T, S) bool or None.

    Returns:
        grad_q, grad_k, grad_v: float64, in the shapes of q, k and v.
    """
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = _weights(_scores(q, k, mask, keys), lse)
        grad_scores = _grad_scores(weights, grad_o @ v[keys].T, _correction(grad_o, o))
        grad_q += grad_scores @ k[keys] / _root(q)
        grad_k[keys] = grad_scores.T @ q / _root(q)
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v


def _blocks(count: int, block: int) -> Iterator[slice]:
    """Yield where each block of keys is; the last may be shorter."""
    for start in range(0, count, block):
        yield slice(start, start + block)


def _root(q: np.ndarray) -> float:
    """Return what dot products are divided by."""
    return float(q.shape[1] ** 0.5)


def _scores(q: np.ndarray, k: np.ndarray, mask: np.ndarray | None, keys: slice) -> np.ndarray:
    """Return the scores of one block, (T, B): minus infinity where a key is hidden."""
    scores = q @ k[keys].T / _root(q)
    return scores if mask is None else np.where(mask[:, keys], scores, -np.inf)


def _floor(top: np.ndarray) -> np.ndarray:
    """Return what is taken off scores: minus infinity less itself would be NaN."""
    return np.where(np.isinf(top), 0, top)


def _add(state: State, scores: np.ndarray, values: np.ndarray) -> State:
    """Add a block of keys, scores (T, B) and values (B, e), to what is known of those before."""
    top, total, o = state
    new = np.maximum(top, scores.max(axis=1))
    shrink, weights = np.exp(top - _floor(new)), np.exp(scores - _floor(new)[:, None])
    return new, shrink * total + weights.sum(axis=1), shrink[:, None] * o + weights @ values


def _finish(top: np.ndarray, total: np.ndarray, o: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return o and lse; a query without a key has a total of 0."""
    total = np.where(total > 0, total, 1)
    return o / total[:, None], top + np.log(total)


def _weights(scores: np.ndarray, lse: np.ndarray) -> np.ndarray:
    """Return the weights of one block among all keys, (T, B)."""
    return np.exp(scores - _floor(lse)[:, None])


def _correction(grad_o: np.ndarray, o: np.ndarray) -> np.ndarray:
    """Return for each query the mean of the gradients of its weights, under its weights, (T, 1)."""
    return (grad_o * o).sum(axis=1, keepdims=True)


def _grad_scores(
    weights: np.ndarray, grad_weights: np.ndarray, correction: np.ndarray
) -> np.ndarray:
    """Return the gradient of the scores of one block, (T, B), from that of their weights."""
    return weights * (grad_weights - correction)
