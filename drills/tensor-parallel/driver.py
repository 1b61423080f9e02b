"""Ranks in one process: shards of whole arrays, an all-reduce that is counted, and ranks apart.

`apart` calls a function once per rank and gives it foreign numbers in place of the other ranks'
shards, of the same shapes.  Of each call only what it says for its own rank counts: what it hands
to all_reduce, and what it returns.
"""

import itertools

import numpy as np


class _Waits(BaseException):
    """A rank has handed something to all_reduce and waits for the others."""


class _Network:
    """An all-reduce between ranks; a copy of it has a log of its own."""

    def __init__(self, ranks):
        self.ranks, self.log = ranks, []

    def __call__(self, parts, op="sum"):
        if len(parts) != self.ranks:
            raise ValueError(f"all_reduce takes an array per rank, {self.ranks}; not {len(parts)}")
        total = _reduced(parts, op)
        self.log.append(total.size)
        return [total.copy() for _ in parts]


def shards(_, x, w1, b1, w2, b2, shares):
    """Return x, w1, b1, w2 and b2 as ranks have them; shares are the hidden features of each."""
    ranks, cuts = range(len(shares)), _cuts(shares)
    whole = [[x for _ in ranks], [b2 for _ in ranks]]
    return (
        whole[0],
        np.split(w1, cuts, axis=1),
        np.split(b1, cuts),
        np.split(w2, cuts, axis=0),
        whole[1],
    )


def rows(_, x, shares):
    """Return the rows of x that each rank has."""
    return np.split(x, _cuts(shares))


def columns(_, logits, shares):
    """Return the columns of the logits that each rank has."""
    return np.split(logits, _cuts(shares), axis=1)


def everywhere(_, array, shares):
    """Return an array once per rank."""
    return [array for _ in shares]


def network(_, shares):
    """Return all_reduce; it has a log of the entries per rank that each call was for."""
    return _Network(len(shares))


def asked_for(_, all_reduce):
    """Return how many entries per rank each call was for."""
    return all_reduce.log


def within_y(log, x, b2):
    """Return calls and entries, or the limits if less: one call, of the shape of y."""
    return max(len(log), 1), max(sum(log), len(x) * len(b2))


def within_x(log, x):
    """Return calls and entries, or the limits if less: one call, of the shape of x."""
    return max(len(log), 1), max(sum(log), x.size)


def within_rows(log, targets):
    """Return calls and entries, or the limits if less: three calls, 3 N entries."""
    return max(len(log), 3), max(sum(log), 3 * len(targets))


def mlp_apart(program, x, w1, b1, w2, b2):
    """Return y of every rank, where each rank has its own shards alone."""

    def forward(*given):
        return (program.mlp(*given),)

    return _by_result(_apart(forward, (), [x], [w1, b1, w2], [b2]))[0]


def mlp_backward_apart(program, grad_y, x, w1, b1, w2, b2):
    """Return what mlp_backward gives every rank, where each has its own shards alone."""
    return _by_result(_apart(program.mlp_backward, (), [grad_y, x], [w1, b1, w2], [b2]))


def norm_backward_apart(program, grad_h, x, gain):
    """Return what norm_backward gives every rank, where each has its own rows alone."""
    return _by_result(_apart(program.norm_backward, (), [grad_h], [x], [gain]))


def vocab_loss_apart(program, logits, targets):
    """Return what vocab_loss gives every rank, where each has its own logits alone."""
    return _by_result(_apart(program.vocab_loss, (), [], [logits], [targets]))


def _apart(function, known, before, sharded, after):
    """Return the results of all ranks; known are the results of collectives so far."""
    ranks = range(len(sharded[0]))
    asked, found = [], []
    for r in ranks:
        own = [[a if i == r else _foreign(a, i) for i, a in enumerate(s)] for s in sharded]
        try:
            given = function(*before, *own, *after, _replay(r, len(ranks), known, asked))
        except _Waits:
            continue
        found.append([one[r] for one in given])
    if not asked:
        return found
    if found or len({op for _, op in asked}) > 1 or len(known) > 20:
        raise ValueError("the ranks do not make the same calls of all_reduce")
    total = _reduced([part for part, _ in asked], asked[0][1])
    return _apart(function, (*known, total), before, sharded, after)


def _replay(rank, ranks, known, asked):
    """Return an all_reduce that gives what is known, and then notes what a rank asks for."""
    done = iter(known)

    def all_reduce(parts, op="sum"):
        total = next(done, None)
        if total is None:
            asked.append((np.array(parts[rank]), op))
            raise _Waits
        return [total.copy() for _ in range(ranks)]

    return all_reduce


def _foreign(array, seed):
    return np.random.default_rng(seed).standard_normal(array.shape)


def _by_result(found):
    return tuple(list(one) for one in zip(*found, strict=True))


def _reduced(parts, op):
    if op not in {"sum", "max"}:
        raise ValueError(f'all_reduce knows "sum" and "max"; it got {op!r}')
    parts = [np.asarray(part) for part in parts]
    if len({part.shape for part in parts}) > 1:
        raise ValueError(f"all_reduce takes arrays of one shape; it got {[p.shape for p in parts]}")
    return np.maximum.reduce(parts) if op == "max" else np.add.reduce(parts)


def _cuts(shares):
    return list(itertools.accumulate(int(n) for n in shares))[:-1]
