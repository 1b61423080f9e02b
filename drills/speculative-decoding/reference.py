"""Speculative decoding: a draft proposes, the target decides, and the law is the target's own.

Of each token min(p, q) is handed out as kept proposals, and the rest of p as replacements.

Source: Y. Leviathan, M. Kalman and Y. Matias, "Fast Inference from Transformers via Speculative
Decoding", 2023, arXiv:2211.17192.
"""

import numpy as np
from serving import Model, draw, probs


def verify(p: np.ndarray, q: np.ndarray, token: int, u: np.ndarray) -> tuple[int, bool]:
    """Return a token that is distributed as p, and whether it is the proposal.

    Args:
        p: (V,), the target's probabilities.
        q: (V,), the draft's, from which the proposal was drawn.
        token: the proposal.
        u: two independent uniform numbers.
    """
    if _keeps(p, q, token, u[0]):
        return int(token), True
    return draw(_rest(p, q), u[1]), False


def step(
    target: Model, draft: Model, text: list[int], k: int, u: np.ndarray, top_p: float = 1.0
) -> list[int]:
    """Return the tokens that follow text: proposals that are kept, and one more.

    Args:
        target: its cache holds text without the last token, before and after.
        draft: its cache holds a prefix of that.
        text: the tokens so far, at least one.
        k: how many tokens are proposed.
        u: (2 k + 1,), for the proposals, for the decisions, and for the token at the end.
        top_p: what both distributions are filtered by.
    """
    proposals, qs = _proposals(draft, text, k, u, top_p)
    p = probs(_rows(target, text, proposals), top_p)
    new = _new(p, qs, proposals, k, u)
    _cut(target, draft, len(text) + len(new) - 1)
    return new


def plan(p: np.ndarray, q: np.ndarray, k: int, cost: float) -> dict[str, float]:
    """Return what a step yields where p and q hold at every position.

    Args:
        p: (V,), the target's probabilities.
        q: (V,), the draft's.
        k: how many tokens are proposed.
        cost: that of a pass of the draft, in passes of the target.
    """
    alpha = _alpha(p, q)
    tokens = _tokens(alpha, k)
    return {
        "alpha": alpha,
        "tokens": tokens,
        "speedup": tokens / (1 + k * cost),
        "break_even": _break_even(tokens, k),
    }


def _keeps(p: np.ndarray, q: np.ndarray, token: int, u: float) -> bool:
    """Whether a proposal is kept, which has the probability min(1, p / q)."""
    return bool(u * q[token] < p[token])


def _rest(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the distribution of replacements: what p has and kept proposals do not give."""
    rest = np.maximum(p - q, 0.0)
    total = rest.sum()
    # Where p and q agree up to rounding there may be a rejection, and nothing left.
    return rest / total if total > 0 else p


def _proposals(
    draft: Model, text: list[int], k: int, u: np.ndarray, top_p: float
) -> tuple[list[int], list[np.ndarray]]:
    """Return k tokens of the draft, and the distributions that they were drawn from."""
    proposals: list[int] = []
    qs = []
    feed = _lacking(draft, text)
    for i in range(k):
        qs.append(probs(draft.extend(feed)[-1], top_p))
        proposals.append(draw(qs[-1], u[i]))
        feed = proposals[-1:]
    return proposals, qs


def _lacking(draft: Model, text: list[int]) -> list[int]:
    """Return the tokens of text that the draft has not seen: two after k kept proposals."""
    return text[len(draft.tokens) :]


def _rows(target: Model, text: list[int], proposals: list[int]) -> np.ndarray:
    """Return the target's k + 1 rows of logits, by one pass."""
    return target.extend([text[-1], *proposals])


def _new(
    p: np.ndarray, qs: list[np.ndarray], proposals: list[int], k: int, u: np.ndarray
) -> list[int]:
    """Return the proposals that are kept, and the token that ends the step."""
    new = []
    for i in range(k):
        token, kept = verify(p[i], qs[i], proposals[i], (u[k + i], u[2 * k]))
        new.append(token)
        if not kept:
            return new
    # The target's last row is about the token after all proposals.
    return [*new, draw(p[k], u[2 * k])]


def _cut(target: Model, draft: Model, n: int) -> None:
    """Let no cache hold more than the first n tokens of the text."""
    target.truncate(n)
    draft.truncate(n)


def _alpha(p: np.ndarray, q: np.ndarray) -> float:
    """Return the probability that a proposal is kept."""
    return float(np.minimum(p, q).sum())


def _tokens(alpha: float, k: int) -> float:
    """Return the mean length of a step: position i is reached if all before it were kept."""
    return float(sum(alpha**i for i in range(k + 1)))


def _break_even(tokens: float, k: int) -> float:
    """Return the cost of a draft pass at which tokens / (1 + k * cost) is 1."""
    return (tokens - 1) / k
