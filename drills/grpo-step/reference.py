"""A policy-gradient step on graded answers: group advantages and a clipped loss, by hand."""

import numpy as np


def group_advantages(rewards: np.ndarray, group: int, eps: float) -> np.ndarray:
    """Return each reward measured against its group, (N,).

    Args:
        rewards: (N,) float64; answers to one problem stand next to each other.
        group: how many answers a problem has; it divides N.
        eps: what is added to the standard deviation.

    Returns:
        advantages: (N,) float64.
    """
    by_problem = _groups(rewards, group)
    scaled = (by_problem - _baseline(by_problem)) / _scale(by_problem, eps)
    return _ungrouped(scaled)


def policy_loss(
    logp: np.ndarray,
    old: np.ndarray,
    advantages: np.ndarray,
    mask: np.ndarray,
    low: float,
    high: float,
    mean: str = "answer",
    total: int | None = None,
    ref: np.ndarray | None = None,
    beta: float = 0.0,
) -> tuple[float, np.ndarray]:
    """Return the loss, and its gradient with respect to logp.

    Args:
        logp: (N, T) float64, log-probabilities of the tokens under the present policy.
        old: (N, T) float64, those under the policy that sampled them.
        advantages: (N,) float64, of the answers.
        mask: (N, T) bool, True where a token of the answer stands.
        low: how far below 1 the band of ratios reaches.
        high: how far above 1.
        mean: "answer" averages within answers first, "token" over all tokens.
        total: answers or tokens of the whole batch; None: those of this call.
        ref: (N, T) float64, log-probabilities under a reference policy, or None.
        beta: the weight of the pull toward it.

    Returns:
        loss: a number.
        grad: (N, T) float64.
    """
    objective, slope = _objective(_ratio(logp, old, mask), advantages[:, None], low, high)
    if ref is not None:
        penalty, pull = _penalty(_selected(ref, logp, mask))
        objective, slope = objective - beta * penalty, slope - beta * pull
    share = _shares(mask, mean, total)
    return float(-(share * objective).sum()), -share * slope


def _groups(rewards: np.ndarray, group: int) -> np.ndarray:
    """Return the rewards with a row for each problem."""
    return rewards.reshape(-1, group)


def _ungrouped(by_problem: np.ndarray) -> np.ndarray:
    """Return rows of problems as they were before `_groups`."""
    return by_problem.reshape(-1)


def _baseline(by_problem: np.ndarray) -> np.ndarray:
    """Return what each reward is compared with."""
    return by_problem.mean(axis=1, keepdims=True)


def _scale(by_problem: np.ndarray, eps: float) -> np.ndarray:
    """Return what differences are divided by."""
    return by_problem.std(axis=1, keepdims=True) + eps


def _selected(a: np.ndarray, b: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return a - b where a token stands, else 0; elsewhere neither is looked at."""
    return np.subtract(a, b, out=np.zeros(mask.shape), where=mask)


def _ratio(logp: np.ndarray, old: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return how many times as likely each token has become."""
    return np.exp(_selected(logp, old, mask))


def _objective(
    ratio: np.ndarray, a: np.ndarray, low: float, high: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the objective of each token, and its derivative with respect to logp."""
    plain, clipped = ratio * a, np.clip(ratio, 1 - low, 1 + high) * a
    return np.minimum(plain, clipped), np.where(plain <= clipped, plain, 0)


def _penalty(d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the penalty of each token for d = ref - logp, and its derivative by logp."""
    return np.exp(d) - d - 1, 1 - np.exp(d)


def _shares(mask: np.ndarray, mean: str, total: int | None) -> np.ndarray:
    """Return what each token counts in the mean; 0 where none stands."""
    if mean == "token":
        return mask / _counted(mask.sum(), total)
    lengths = mask.sum(axis=1, keepdims=True)
    return mask / np.maximum(lengths, 1) / _counted(len(mask), total)


def _counted(here: int, total: int | None) -> int:
    """Return what a sum is divided by."""
    return max(here, 1) if total is None else total
