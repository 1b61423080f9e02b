"""The training run that is measured from outside, and the all-reduce of several machines."""

import numpy as np

TOKENS = 6  # 1 to 6; 0 fills rows up
KNOWN = 5 / 6  # how often a token is followed by its successor


def measured(program, E, U, dice, lr, rows):
    """Return how far the model is from the best there is, while it is trained on a known language.

    After a token comes its successor (after 6 comes 1) with a probability of 5/6, and each other
    one with 1/30: 0.719 nats that nobody can predict. Because the language is known, the loss that
    text of any length would have is computed exactly, and not by the program's own loss.

    Args:
        program: the functions under test; only `loss_and_grad` is called.
        E: (7, d), the weights to begin with.
        U: (d, 7).
        dice: (steps * rows, T), uniform numbers from 0 to 1, which are made into text.
        lr: the learning rate of the first step; it falls linearly, to 0 after the last.
        rows: the rows of text in a step.

    Returns:
        A list of losses, in nats per token above 0.719: before the first step, and after each
        tenth.
    """
    text = _text(dice)
    steps = len(text) // rows
    losses = [_excess(E, U)]
    for done in range(steps):
        batch = text[done * rows : (done + 1) * rows]
        _, dE, dU = program.loss_and_grad(E, U, batch, 0)
        if np.shape(dE) != E.shape or np.shape(dU) != U.shape:
            break  # there is nothing sensible left to train
        rate = lr * (1 - done / steps)
        E, U = E - rate * dE, U - rate * dU
        if (done + 1) % 10 == 0:
            losses.append(_excess(E, U))
    return losses


def train(program, E, U, pieces, lr, accumulate, pad):
    """Return what the program's `train` gives, its losses as a list if they come as an array."""
    E, U, losses = program.train(E, U, pieces, lr, accumulate, pad)
    return E, U, losses.tolist() if isinstance(losses, np.ndarray) else losses


def all_reduce(program, E, U, ranks, pad):
    """Return the means over machines of what `rank_gradient` gives for the rows of each.

    Args:
        program: the functions under test; only `rank_gradient` is called.
        E: (V, d).
        U: (d, V).
        ranks: the rows of each machine, a list of (B_i, T_i) arrays.
        pad: the token that fills rows up.
    """
    counts = [int((tokens[:, 1:] != pad).sum()) for tokens in ranks]
    given = [program.rank_gradient(E, U, tokens, list(counts), pad) for tokens in ranks]
    dE, dU = (sum(np.asarray(part) for part in parts) for parts in zip(*given, strict=True))
    return dE / len(ranks), dU / len(ranks)


def _text(dice):
    """Return tokens of the shape of dice, rows of different lengths, filled up with 0."""
    text = np.zeros(dice.shape, dtype=np.int64)
    text[:, 0] = 1 + np.floor(dice[:, 0] * TOKENS).astype(np.int64)
    # Of the throws that are no successor each fifth leads on by 2, 3, 4, 5 or 6 tokens.
    other = 2 + np.floor((dice - KNOWN) / (1 - KNOWN) * (TOKENS - 1))
    jump = np.where(dice < KNOWN, 1, np.clip(other, 2, TOKENS)).astype(np.int64)
    for t in range(1, dice.shape[1]):
        text[:, t] = 1 + (text[:, t - 1] - 1 + jump[:, t]) % TOKENS
    lengths = dice.shape[1] - np.arange(len(dice)) % 4 * 2
    text[np.arange(dice.shape[1]) >= lengths[:, None]] = 0
    return text


def _excess(E, U):
    """Return the mean over all that may follow of log(true probability / model's), in nats."""
    logits = E[1:] @ U
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = (shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))[:, 1:]
    follows = np.full((TOKENS, TOKENS), (1 - KNOWN) / (TOKENS - 1))
    follows[np.arange(TOKENS), (np.arange(TOKENS) + 1) % TOKENS] = KNOWN
    return float((follows * (np.log(follows) - log_p)).sum() / TOKENS)
