"""Preference tuning of a low-rank adapter on the last matrix of a language model."""

import numpy as np


def preference_loss(
    hidden: np.ndarray,
    tokens: np.ndarray,
    prompt: np.ndarray,
    length: np.ndarray,
    weight: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    alpha: float,
    beta: float,
    smoothing: float = 0.0,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the loss over pairs of answers, and its gradients with respect to the adapter.

    Args:
        hidden: (2 P, T, D) float64, what the last matrix is applied to.
        tokens: (2 P, T) int64; row i is preferred to row P + i.
        prompt: (2 P,) int64, how many tokens of a row are the prompt.
        length: (2 P,) int64, how many are prompt and answer.
        weight: (V, D) float64, frozen.
        a: (r, D) float64.
        b: (V, r) float64.
        alpha: the product b a is added alpha / r times.
        beta: how many units of margin a unit of log-probability is.
        smoothing: the share of pairs that may be labeled the wrong way round.

    Returns:
        loss: a number.
        grad_a: (r, D) float64.
        grad_b: (V, r) float64.
    """
    row, h, targets = _answers(hidden, tokens, prompt, length)
    frozen, policy = _reference(h, weight, a, b, alpha), _logits(h, weight, a, b, alpha)
    rows = len(tokens)
    margin = beta * (
        _gap(_scores(policy, targets, row, rows)) - _gap(_scores(frozen, targets, row, rows))
    )
    loss, slope = _loss(margin, smoothing)
    grad = _grad_scores(beta * slope)[row, None] * _grad_logits(policy, targets)
    grad_a = _scale(alpha, a) * (grad @ b).T @ h
    grad_b = _scale(alpha, a) * grad.T @ (h @ a.T)
    return loss, grad_a, grad_b


def fresh(weight: np.ndarray, rank: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return an adapter that changes nothing yet, and can learn: a (r, D) and b (V, r).

    Args:
        weight: (V, D).
        rank: r.
        rng: what random entries are drawn from.
    """
    outputs, inputs = weight.shape
    return rng.standard_normal((rank, inputs)) / inputs**0.5, np.zeros((outputs, rank))


def merged(weight: np.ndarray, a: np.ndarray, b: np.ndarray, alpha: float) -> np.ndarray:
    """Return one matrix that does what weight and its adapter do.

    Args:
        weight: (V, D) float64 or float32.
        a: (r, D) float64.
        b: (V, r) float64.
        alpha: as in `preference_loss`.

    Returns:
        (V, D), dtype of weight.
    """
    return (weight + _scale(alpha, a) * b @ a).astype(weight.dtype)


def _answers(
    hidden: np.ndarray, tokens: np.ndarray, prompt: np.ndarray, length: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of each token of an answer its row, what predicts it, and the token."""
    row, place = np.nonzero(_counted(np.arange(tokens.shape[1]), prompt, length))
    return row, hidden[row, place - 1], tokens[row, place]


def _counted(place: np.ndarray, prompt: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Return where answers have their tokens, (2 P, T)."""
    return (place >= prompt[:, None]) & (place < length[:, None])


def _scale(alpha: float, a: np.ndarray) -> float:
    """Return what the product of the adapter is multiplied by."""
    return alpha / len(a)


def _logits(
    h: np.ndarray, weight: np.ndarray, a: np.ndarray, b: np.ndarray, alpha: float
) -> np.ndarray:
    """Return the logits of the policy, (M, V)."""
    return h @ weight.T + _scale(alpha, a) * (h @ a.T) @ b.T


def _reference(
    h: np.ndarray,
    weight: np.ndarray,
    a: np.ndarray,  # noqa: ARG001
    b: np.ndarray,  # noqa: ARG001
    alpha: float,  # noqa: ARG001
) -> np.ndarray:
    """Return the logits of the reference, (M, V)."""
    return h @ weight.T


def _scores(logits: np.ndarray, targets: np.ndarray, row: np.ndarray, rows: int) -> np.ndarray:
    """Return the log-probability of each row's answer, (2 P,)."""
    picked = logits[np.arange(len(targets)), targets] - _normalizer(logits)
    found = np.zeros(rows, picked.dtype)
    np.add.at(found, row, picked)
    return found


def _normalizer(logits: np.ndarray) -> np.ndarray:
    """Return the log-sum-exp of each row of logits."""
    return np.logaddexp.reduce(logits, axis=1)


def _gap(scores: np.ndarray) -> np.ndarray:
    """Return preferred less rejected, (P,)."""
    preferred, rejected = np.split(scores, 2)
    return preferred - rejected


def _loss(margin: np.ndarray, smoothing: float) -> tuple[float, np.ndarray]:
    """Return the loss, and its derivative with respect to each margin."""
    right, wrong = np.logaddexp(0, -margin), np.logaddexp(0, margin)
    loss = (1 - smoothing) * right + smoothing * wrong
    slope = -(1 - smoothing) * np.exp(-wrong) + smoothing * np.exp(-right)
    return float(loss.mean()), slope / len(margin)


def _grad_scores(of_gaps: np.ndarray) -> np.ndarray:
    """Return the gradient of each row's score, (2 P,), from those of gaps."""
    return np.concatenate([of_gaps, -of_gaps])


def _grad_logits(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the derivative of each token's log-probability with respect to its logits, (M, V)."""
    grad = -np.exp(logits - _normalizer(logits)[:, None])
    grad[np.arange(len(targets)), targets] += 1
    return grad
