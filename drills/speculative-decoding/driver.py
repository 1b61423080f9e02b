"""Call verify for every draw there can be, and step many times with models that remember."""

import numpy as np
from serving import Model


def law(program, p, q, grid):
    """Return how probable each token is as a kept proposal, (V,), and as a replacement, (V,).

    u takes the midpoints of a grid. If every limit is a multiple of 1 / grid, that is exact.
    """
    middles = (np.arange(grid) + 0.5) / grid
    shares = np.zeros((2, len(p)))
    for token in np.flatnonzero(q):
        for first in middles:
            for second in middles:
                found, kept = program.verify(p, q, int(token), (first, second))
                shares[0 if kept else 1, found] += q[token] / grid**2
    return shares[0], shares[1]


def decisions(program, p, q, token, u):
    """Return what verify gives for every row: the tokens, and whether each is the proposal."""
    rows = [program.verify(*row) for row in zip(p, q, token.tolist(), u, strict=True)]
    return [int(found) for found, _ in rows], [bool(kept) for _, kept in rows]


def possible(p, found):
    """Return whether p gives the token that was found for each row more than 0."""
    return [bool(row[token] > 0) for row, token in zip(p, found, strict=True)]


class Watched(Model):
    """A model that counts what it is fed."""

    def __init__(self, logits_after):
        super().__init__(logits_after)
        self.calls = self.fed = 0

    def extend(self, tokens):
        tokens = list(tokens)
        self.calls += 1
        self.fed += len(tokens)
        return super().extend(tokens)


def logits_of(embed, head):
    """Return a function that gives logits which depend on all tokens and their places."""

    def logits_after(tokens):
        state = np.zeros(embed.shape[1])
        for place, token in enumerate(tokens):
            state = np.tanh(0.8 * np.roll(state, 1) + embed[(token + place) % len(embed)])
        return head @ state

    return logits_after


def generate(program, text, k, u, embed, head, change, top_p=None):
    """Run a step for each row of u.

    Args:
        program: the functions under test.
        text: the prompt, whole numbers.
        k: how many tokens are proposed in each step.
        u: (steps, 2 k + 1).
        embed: (V, H), of both models.
        head: (V, H), of the target.
        change: what the draft's head has besides.
        top_p: passed on, if it is given.

    Returns:
        The new tokens of each step; after each step, the tokens of the caches (target's, draft's);
        of each step, calls of the target, and the tokens that it and the draft were fed.
    """
    target, draft = Watched(logits_of(embed, head)), Watched(logits_of(embed, head + change))
    text = [int(t) for t in text]
    target.extend(text[:-1])
    given = {} if top_p is None else {"top_p": top_p}
    tokens, held, fed = [], [], []
    for row in u:
        target.calls = target.fed = draft.fed = 0
        new = [int(t) for t in program.step(target, draft, text, k, row, **given)]
        tokens.append(new)
        text += new
        held.append([list(target.tokens), list(draft.tokens)])
        fed.append([target.calls, target.fed, draft.fed])
    return tokens, held, fed


def caches(text, tokens, held):
    """Return of each step whether the caches are what they have to be, and what the draft's lacks.

    It may lack two tokens, and only those beyond count.
    """
    text, found = text.tolist(), []
    for new, (of_target, of_draft) in zip(tokens, held, strict=True):
        text += new
        so_far = text[:-1]
        lacks = max(0, len(text) - len(of_draft) - 2)
        found.append([of_target == so_far, of_draft == so_far[: len(of_draft)], lacks])
    return np.array(found)


def passes(text, k, tokens, held, fed):
    """Return of each step the calls of the target, and what the models were fed in excess.

    For the target that is beyond k + 1 tokens; for the draft, beyond k and those that its cache
    lacked.
    """
    length, cached, found = len(text), 0, []
    for new, (_, of_draft), (calls, to_target, to_draft) in zip(tokens, held, fed, strict=True):
        over = max(0, to_target - k - 1), max(0, to_draft - (length - cached) - k)
        found.append([calls, *over])
        length, cached = length + len(new), len(of_draft)
    return np.array(found)
