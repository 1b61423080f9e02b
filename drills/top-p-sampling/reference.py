"""Temperature, top-k and top-p as a distribution, and a draw from it with a given number.

The k most probable tokens are found without sorting the vocabulary: a partition gives the k-th
largest logit, and all that follows looks at k candidates. A temperature does not change the order
of tokens, so they are ranked by their logits.

Source: A. Holtzman, J. Buys, L. Du, M. Forbes and Y. Choi, "The Curious Case of Neural Text
Degeneration", 2019, arXiv:1904.09751 (the nucleus).
"""

import numpy as np


def probs(
    logits: np.ndarray, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0
) -> np.ndarray:
    """Return the distribution that the settings describe.

    Args:
        logits: (B, V) float64, any strides, never modified; minus infinity bans a token.
        temperature: 0, or what logits are divided by.
        top_k: how many of the most probable tokens stay; 0 for all.
        top_p: the share that those that stay then have to reach; 1.0 for all.

    Returns:
        (B, V) float64 in the order of the vocabulary; each row sums to 1, or is 0 throughout if all
        of its tokens are banned.
    """
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, top_k)
        kept = _nucleus(_shares(row[order], temperature), top_p)
        own[order[: len(kept)]] = kept / kept.sum()
    return p


def sample(
    logits: np.ndarray,
    u: np.ndarray,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> np.ndarray:
    """Return a token for each row, (B,) int64, or -1 if all of its tokens are banned.

    Args:
        logits: (B, V) float64, as for `probs`.
        u: (B,) float64, from 0 up to but not including 1.
        temperature: as for `probs`.
        top_k: as for `probs`.
        top_p: as for `probs`.
    """
    p = probs(logits, temperature, top_k, top_p)
    return np.array([_draw(row, number) for row, number in zip(p, u, strict=True)], np.int64)


def _ranked(row: np.ndarray, top_k: int) -> np.ndarray:
    """Return the tokens that top_k keeps, most probable first; the lower index of equal ones."""
    tokens = np.flatnonzero(row > -np.inf)
    if 0 < top_k < len(tokens):
        place = len(tokens) - top_k
        kth = np.partition(row[tokens], place)[place]
        above = np.flatnonzero(row > kth)
        level = np.flatnonzero(row == kth)
        tokens = np.concatenate([above, level[: top_k - len(above)]])
    return tokens[np.argsort(-row[tokens], kind="stable")]


def _shares(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Return the softmax of logits in falling order; of the first one alone at temperature 0."""
    top = logits[:1]
    if temperature == 0:
        return np.ones_like(top)
    e = np.exp((logits - top) / temperature)
    return e / e.sum()


def _nucleus(shares: np.ndarray, top_p: float) -> np.ndarray:
    """Return the first of the shares that are needed to reach top_p."""
    if top_p == 1:
        return shares  # a total that has rounded to 1 would drop what has next to nothing
    before = np.cumsum(shares)[:-1]
    return shares[: 1 + np.searchsorted(before, top_p)]


def _draw(row: np.ndarray, u: float) -> int:
    """Return the first token at which the running total exceeds u, the last one at the latest."""
    tokens = np.flatnonzero(row)
    if len(tokens) == 0:
        return -1
    # The total may round to less than 1, and u may lie in between.
    return min(int(np.searchsorted(np.cumsum(row), u, side="right")), int(tokens[-1]))
