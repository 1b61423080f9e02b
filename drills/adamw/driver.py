"""Loops around the step and the schedule. p, q and r are three parameters throughout.

Gradients come stacked, (S, *shape) for S steps, and so do the weights that are returned: those
after step 1 come first.
"""

import numpy as np

USUAL = {"beta1": 0.9, "beta2": 0.999}  # what is left out is asked for by `defaults` alone
EPS = 1e-8


def trajectory(program, params, grads, settings):
    """Return the weights after each step for S lists of gradients and S dicts of settings.

    Copies are handed out: whether a step leaves a caller's weights alone is asked elsewhere.
    """
    params = [np.array(p) for p in params]
    state, after = program.init(list(params)), []
    for now, given in zip(grads, settings, strict=True):
        new, state = program.step(list(params), list(now), state, **given)
        params = list(new)
        after.append([np.array(w) for w in params])
    return tuple(np.stack(w) for w in zip(*after, strict=True))


def weights(program, p, q, r, grads_p, grads_q, grads_r, lr, eps, decay):
    """Return the weights after each step, with the same settings for all."""
    given = [{"lr": lr, "eps": eps, "decay": decay, **USUAL}] * len(grads_p)
    return trajectory(program, [p, q, r], zip(grads_p, grads_q, grads_r, strict=True), given)


def defaults(program, p, q, r, grads_p, grads_q, grads_r, lr):
    """Return the weights after each step, with nothing but lr given."""
    given = [{"lr": lr}] * len(grads_p)
    return trajectory(program, [p, q, r], zip(grads_p, grads_q, grads_r, strict=True), given)


def partly(program, p, q, r, grads_p, grads_q, grads_r, present, lr, decay):
    """Return the weights after each step; a gradient is None where `present`, (S, 3), is 0."""
    grads = some(grads_p, grads_q, grads_r, present)
    given = [{"lr": lr, "eps": EPS, "decay": decay, **USUAL}] * len(grads)
    return trajectory(program, [p, q, r], grads, given)


def some(grads_p, grads_q, grads_r, present):
    """Return the gradients of each step, None where `present`, (S, 3), is 0."""
    return [
        [g if there else None for g, there in zip(now, row, strict=True)]
        for *now, row in zip(grads_p, grads_q, grads_r, present, strict=True)
    ]


def in_place(program, p, q, r, grads_p, grads_q, grads_r, present, lr, decay):
    """Return what copies of the weights hold after each step in place; betas and eps left out."""
    own = [np.array(w) for w in (p, q, r)]
    state, after = program.init(own), []
    for grads in some(grads_p, grads_q, grads_r, present):
        settings = {"lr": lr} if decay is None else {"lr": lr, "decay": decay}
        state = program.step_in_place(list(own), grads, state, **settings)
        after.append([w.copy() for w in own])
    return tuple(np.stack(w) for w in zip(*after, strict=True))


def copies(program, layers):  # noqa: ARG001
    """Return a list of the arrays that are stacked in one, each with memory of its own."""
    return [np.array(w) for w in layers]


def changing(program, p, q, r, grads_p, grads_q, grads_r, lrs, decays, beta1, beta2):
    """Return the weights after each step, with a rate and a decay for each, given by position."""
    params = [np.array(w) for w in (p, q, r)]
    state, after = program.init(list(params)), []
    every = zip(grads_p, grads_q, grads_r, lrs, decays, strict=True)
    for *grads, lr, decay in every:
        new, state = program.step(params, grads, state, float(lr), beta1, beta2, 1e-6, float(decay))
        params = list(new)
        after.append([np.array(w) for w in params])
    return tuple(np.stack(w) for w in zip(*after, strict=True))


def two_models(program, p, q, r, grads_p, grads_q, grads_r, lr, decay):
    """Return the last weights of two models that begin with the same weights and take turns.

    The first has the gradients of even rows, the second those of odd ones.
    """
    params = [[p, q, r], [p, q, r]]
    states = [program.init(list(start)) for start in params]
    settings = {"lr": lr, "eps": EPS, "decay": decay, **USUAL}
    for row, grads in enumerate(zip(grads_p, grads_q, grads_r, strict=True)):
        turn = row % 2
        params[turn], states[turn] = program.step(
            list(params[turn]), list(grads), states[turn], **settings
        )
    return tuple(np.stack([np.array(w) for w in pair]) for pair in zip(*params, strict=True))


def first_step(program, p, grad_p, lr):
    """Return the weights and the state after one step of a single parameter."""
    return program.step([p], [grad_p], program.init([p]), lr)


def rates(program, peak, warmup, total, steps):
    """Return the learning rates of the steps 1 to `steps`."""
    return np.array([float(program.lr_at(s, peak, warmup, total)) for s in range(1, steps + 1)])
