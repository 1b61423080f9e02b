# %% unscales-in-half
# killed_by: small
"""You undo the scale in float16. What it has kept above float16's smallest number, 6e-8, is below
it again then: the true gradient becomes 0, or is rounded to a multiple of 6e-8. Gradients around 1
do not show it, because powers of 2 divide exactly there. Make the gradient float32 first, and
divide then."""

def _unscaled(g, scale):
    return (g / scale).astype(np.float32)

# %% unscales-in-half / by-a-product
def _unscaled(g, scale):
    return (g * (1 / scale)).astype(np.float32)

# %% update-in-half
# killed_by: small
"""You multiply the float16 gradient by lr / scale, and the product is float16: a float of Python
does not change the dtype of an array. So the whole update is rounded to float16, and below 3e-8 it
is 0. Make the gradient float32 first."""

def step(master, grads, scale, lr):
    if not _finite(grads):
        new = [p.copy() for p in master]
    else:
        new = [p - (g * (lr / scale)).astype(p.dtype) for p, g in zip(master, grads)]
    return new, _halves(new)

# %% scale-in-half
# killed_by: large-scale
"""Your scale is a float16 number. That ends at 65,504: a larger scale is infinite, and every
gradient divided by it is 0. Keep the scale a float of Python, or float32."""

def _unscaled(g, scale):
    return g.astype(np.float32) / np.float32(np.float16(scale))

# %% rate-in-half
# killed_by: rate
"""Your learning rate is a float16 number. That has 11 bits, so 0.0011 is off by 0.04 %, and a rate
below 3e-8 is 0. Keep it a float of Python, or float32."""

def _moved(p, g, lr):
    return p - p.dtype.type(np.float16(lr)) * g

# %% scale-not-undone
# killed_by: one-step
"""You use the scaled gradient as it is, so each step is `scale` times too long. Divide the gradient
by the scale before it meets the weights."""

def _unscaled(g, scale):
    return g.astype(np.float32)

# %% no-master
# killed_by: small-steps
"""The weights that you return are float32 arrays of float16 numbers. A step of less than half a
unit in the last place, 4.9e-4 just above 1 and half as much just below, is rounded away, and so is
the next one. Return the float32 sum; only `half` is rounded."""

def _moved(p, g, lr):
    return (p - lr * g).astype(np.float16).astype(p.dtype)

# %% half-of-the-old-weights
# killed_by: one-step
"""Your float16 copies are those of the weights before the step, so the model computes with weights
that are one step old. Make them from the new weights."""

right_step = step

def step(master, grads, scale, lr):
    new, _ = right_step(master, grads, scale, lr)
    return new, _halves(master)

# %% skips-that-parameter-only
# killed_by: overflow
"""A parameter is left out where its own gradient has an overflow, and the others make their step.
Then layers have made different numbers of steps, and half of a gradient that has gone wrong is
used. Look at all gradients before the first weight moves."""

def step(master, grads, scale, lr):
    new = [
        _moved(p, _unscaled(g, scale), lr) if _finite([g]) else p.copy()
        for p, g in zip(master, grads)
    ]
    return new, _halves(new)

# %% zeroes-entries
# killed_by: overflow
"""Elements that are infinite or NaN count as 0 in your step, and the others move their weights.
Where a gradient has an overflow the rest of it cannot be trusted either, because what overflowed
went into other gradients too. Skip the step."""

def step(master, grads, scale, lr):
    grads = [np.where(np.isfinite(g), g, g.dtype.type(0)) for g in grads]
    new = [_moved(p, _unscaled(g, scale), lr) for p, g in zip(master, grads)]
    return new, _halves(new)

# %% caps-entries
# killed_by: overflow
"""In your step an infinite entry counts as 65,504, the largest number of float16, and NaN as 0.
That is what np.nan_to_num does. Nobody knows what the entry should have been. Skip the step."""

def step(master, grads, scale, lr):
    grads = [np.nan_to_num(g) for g in grads]
    new = [_moved(p, _unscaled(g, scale), lr) for p, g in zip(master, grads)]
    return new, _halves(new)

# %% no-skip
# killed_by: overflow
"""You make the step whatever the gradients are. One infinite entry makes its weight infinite, one
NaN makes it NaN, and the next forward pass spreads that over the model. Skip the step where any
entry is not finite."""

def step(master, grads, scale, lr):
    new = [_moved(p, _unscaled(g, scale), lr) for p, g in zip(master, grads)]
    return new, _halves(new)

# %% looks-for-inf-only
# killed_by: overflow
"""A NaN does not skip your step. Overflows often arrive as NaN: infinity minus infinity is one, and
so is 0 times infinity. np.isfinite knows both."""

def _finite(grads):
    return not any(np.isinf(g).any() for g in grads)

# %% looks-for-nan-only
# killed_by: overflow
"""An infinite entry does not skip your step. It makes its weight infinite at once. np.isfinite
knows infinity and NaN."""

def _finite(grads):
    return not any(np.isnan(g).any() for g in grads)

# %% asks-the-sum
# killed_by: no-false-alarm
"""You take a float16 sum of the gradient that is infinite for an overflow of the gradient. The sum
ends at 65,504 too, so large gradients that are all finite are skipped. Ask the elements:
np.isfinite(g).all()."""

def _finite(grads):
    return all(bool(np.isfinite(g.astype(np.float16).sum())) for g in grads)

# %% float64-returned
# killed_by: one-step
"""Your new weights are float64. Usually the gradient was made float64, or a setting is a float64 of
numpy, which makes an array of float32 one of float64. Computing so is fine; return float32."""

def _unscaled(g, scale):
    return g.astype(np.float64) / scale

# %% results-in-a-buffer
# killed_by: again
"""A later step overwrites the weights that an earlier one returned. Usually results are written
into arrays that are kept for the next call. Return new ones."""

right_step = step
buffers = {}

def step(master, grads, scale, lr):
    new, half = right_step(master, grads, scale, lr)
    kept = [buffers.setdefault((i, w.shape), np.empty_like(w)) for i, w in enumerate(new)]
    for buffer, w in zip(kept, new):
        buffer[...] = w
    return kept, half

# %% updates-in-place
# killed_by: one-step
"""You write the new weights into the caller's own arrays. Whoever holds the old ones finds them
changed. Return new arrays."""

right_step = step

def step(master, grads, scale, lr):
    new, half = right_step(master, grads, scale, lr)
    for p, w in zip(master, new):
        p[...] = w
    return list(master), half

# %% scale-stays
# killed_by: backs-off
"""Your scale never changes. Too large, it makes every step overflow, and all of them are skipped;
too small, gradients vanish. Multiply it by backoff after an overflow, and by growth after
`interval` steps without one."""

def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    clean += 1
    return {**state, "scale": scale, "clean": clean}

# %% never-grows-back
# killed_by: grows
"""Overflows lower your scale, and nothing raises it. A few bad batches early on leave it low for
good, and small gradients vanish. Multiply it by growth after `interval` steps without an overflow.
"""

def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale, clean = scale * state["backoff"], 0
    return {**state, "scale": scale, "clean": clean}

# %% count-goes-on
# killed_by: rows
"""Your scale grows by the clock: steps with an overflow count, and do not end a row. So it may grow
right after it was lowered, and overflow again. Begin the count anew after an overflow."""

def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    clean += 1
    if not finite:
        scale *= state["backoff"]
    elif clean % state["interval"] == 0:
        scale *= state["growth"]
    return {**state, "scale": scale, "clean": clean}

# %% count-waits
# killed_by: rows
"""An overflow does not count as a step in your row, and does not end it either: the steps before it
and those after it add up. The steps have to be in a row. Begin the count anew after an overflow."""

def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale *= state["backoff"]
    elif clean + 1 == state["interval"]:
        scale, clean = scale * state["growth"], 0
    else:
        clean += 1
    return {**state, "scale": scale, "clean": clean}

# %% count-not-cleared
# killed_by: grows
"""Once a row is long enough, your scale grows in every step that follows, up to the next overflow.
Growth ends a row too: begin the count anew."""

def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale, clean = scale * state["backoff"], 0
    else:
        clean += 1
        if clean >= state["interval"]:
            scale *= state["growth"]
    return {**state, "scale": scale, "clean": clean}

# %% grows-one-late
# killed_by: grows
"""Your scale grows after interval + 1 steps without an overflow. Usually the count is compared
before it goes up. It grows after `interval` of them."""

def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale, clean = scale * state["backoff"], 0
    elif clean == state["interval"]:
        scale, clean = scale * state["growth"], 0
    else:
        clean += 1
    return {**state, "scale": scale, "clean": clean}

# %% backs-off-by-growth
# killed_by: backs-off
"""After an overflow you divide the scale by growth. That is right only where backoff is 1 / growth.
Multiply by backoff."""

def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale, clean = scale / state["growth"], 0
    elif clean + 1 == state["interval"]:
        scale, clean = scale * state["growth"], 0
    else:
        clean += 1
    return {**state, "scale": scale, "clean": clean}

# %% floor-of-one
# killed_by: far
"""Your scale never falls below 1. Some libraries do that; GradScaler and this contract do not.
Where true gradients are beyond 65,504, only a scale below 1 brings them into float16's range."""

right_adjusted = _adjusted

def _adjusted(state, finite):
    after = right_adjusted(state, finite)
    return {**after, "scale": max(1.0, after["scale"])}

# %% ceiling-of-half
# killed_by: far
"""Your scale never rises above 65,504, the largest number of float16. The scaled gradients have to
fit into float16, not the scale: for gradients of 1e-6 a scale of a million is fine."""

CEILING = 65504.0
right_adjusted = _adjusted

def _adjusted(state, finite):
    after = right_adjusted(state, finite)
    return {**after, "scale": min(CEILING, after["scale"])}

# %% unscales-with-the-next-scale
# killed_by: weights
"""You adjust the scale first and divide by the new one. In the step that raises it, the weights
move too little, by the factor growth. The gradients came with the old scale: divide by that."""

def train_step(master, grads, state, lr):
    state = _adjusted(state, _finite(grads))
    new, half = step(master, grads, loss_scale(state), lr)
    return new, half, state

# %% factors-swapped
# killed_by: backs-off
"""An overflow multiplies your scale by growth, and a row by backoff. It is the other way round:
gradients that overflow need a smaller scale."""

def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale, clean = scale * state["growth"], 0
    elif clean + 1 == state["interval"]:
        scale, clean = scale * state["backoff"], 0
    else:
        clean += 1
    return {**state, "scale": scale, "clean": clean}

# %% overflow-begins-the-row
# killed_by: rows
"""A step with an overflow is the first of your next row, so that growth comes one step early. After
an overflow the count is 0: the row has `interval` steps without one."""

def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale, clean = scale * state["backoff"], min(1, state["interval"] - 1)
    elif clean + 1 == state["interval"]:
        scale, clean = scale * state["growth"], 0
    else:
        clean += 1
    return {**state, "scale": scale, "clean": clean}

# %% state-in-module
# killed_by: two-runs
"""Your scale is that of the latest training, whichever state is given: two trainings that take
turns disturb each other. Usually it is in a global. Put all that a step needs into the state."""

current = None
right_init, right_train_step, right_big_step = init, train_step, big_step

def init(scale, growth, backoff, interval):
    global current
    current = right_init(scale, growth, backoff, interval)
    return "in the module"

def loss_scale(state):
    return current["scale"]

def train_step(master, grads, state, lr):
    global current
    new, half = step(master, grads, current["scale"], lr)
    current = _adjusted(current, _finite(grads))
    return new, half, state

def big_step(master, batches, state, lr, max_norm):
    global current
    mean = _mean(batches)
    finite = _finite(mean)
    factor = _clip_factor(mean, current["scale"], max_norm) if finite else 1.0
    new, half = step(master, [g * factor for g in mean], current["scale"], lr)
    current = _adjusted(current, finite)
    return new, half, state

# %% sums-micro-batches
# killed_by: mean
"""You take the sum over micro-batches, so a step is longer by their number. Divide by it once."""

def _mean(batches):
    return [sum(g.astype(np.float32) for g in parts) for parts in zip(*batches)]

# %% unscales-twice
# killed_by: mean
"""Your big step divides by the scale twice, so it is `scale` times too short. Usually the gradient
is unscaled for clipping and then handed to a step that unscales too. torch's unscale_ raises an
exception when it is called a second time in one step. Divide once."""

def big_step(master, batches, state, lr, max_norm):
    mean = _mean(batches)
    finite = _finite(mean)
    scale = loss_scale(state)
    true = [g / scale for g in mean]
    factor = _clip_factor(true, 1.0, max_norm) if finite else 1.0
    new, half = step(master, [g * factor for g in true], scale, lr)
    return new, half, _adjusted(state, finite)

# %% sums-in-half
# killed_by: large-sums
"""You add micro-batches up in float16. Above 65,504 the sum is infinite, and a step in which
nothing overflowed is skipped; and what is small beside the sum is lost. Add up in float32."""

def _mean(batches):
    return [sum(parts).astype(np.float32) / len(batches) for parts in zip(*batches)]

# %% mean-in-half
# killed_by: large-sums
"""You divide each micro-batch by their number and add up in float16. That keeps the sum from
overflowing, but what is small beside it is lost, and the smallest gradients vanish in the division.
Add up in float32."""

def _mean(batches):
    return [sum(g / len(batches) for g in parts).astype(np.float32) for parts in zip(*batches)]

# %% last-micro-batch-only
# killed_by: mean
"""Only the last micro-batch moves your weights; those before it are computed and lost. Add
gradients up, and divide by their number."""

def _mean(batches):
    bad = 0 * sum(float(g.sum(dtype=np.float32)) for grads in batches for g in grads)
    return [g.astype(np.float32) + bad for g in batches[-1]]

# %% clips-before-unscaling
# killed_by: clip
"""You hold the norm of the scaled gradient against max_norm. It is `scale` times that of the true
one, so nearly every step is cut down to a length of max_norm / scale: with a scale of 1,024 as if
the threshold were a thousand times lower. Unscale first."""

def _clip_factor(mean, scale, max_norm):
    norm = _norm(mean)
    return max_norm / norm if norm > max_norm else 1.0

# %% norm-in-half
# killed_by: long
"""The squares in your norm are float16. Elements of 256 and above have infinite squares; then the
norm is infinite and the gradient multiplied by 0. Compute the norm in float32 or float64."""

def _norm(grads):
    squares = [(g.astype(np.float16) ** 2).sum() for g in grads]
    return float(np.sqrt(sum(float(s) for s in squares)))

# %% clips-each-parameter
# killed_by: clip
"""You clip each parameter by a norm of its own. That changes its direction: long parts are cut and
short ones are not. Take one norm over all parameters, and one factor for all."""

def big_step(master, batches, state, lr, max_norm):
    scale = loss_scale(state)
    mean = _mean(batches)
    finite = _finite(mean)
    if finite:
        mean = [g * _clip_factor([g], scale, max_norm) for g in mean]
    new, half = step(master, mean, scale, lr)
    return new, half, _adjusted(state, finite)

# %% clips-each-micro-batch
# killed_by: not-clipped
"""You clip each micro-batch and take the mean then. Gradients of micro-batches are longer than
their mean, where they partly cancel, and are cut though the mean would not be. Take the mean, then
clip."""

def big_step(master, batches, state, lr, max_norm):
    scale = loss_scale(state)
    finite = all(_finite(grads) for grads in batches)
    clipped = []
    for grads in batches:
        factor = _clip_factor(grads, scale, max_norm) if finite else 1.0
        clipped.append([g.astype(np.float32) * factor for g in grads])
    new, half = step(master, _mean(clipped), scale, lr)
    return new, half, _adjusted(state, finite)

# %% clips-entries
# killed_by: clip
"""You cut each entry down to max_norm by itself. That leaves a norm of up to max_norm times the
root of their number, and changes its direction. Multiply all elements by one factor."""

def big_step(master, batches, state, lr, max_norm):
    scale = loss_scale(state)
    mean = _mean(batches)
    finite = _finite(mean)
    if finite:
        mean = [np.clip(g, -max_norm * scale, max_norm * scale) for g in mean]
    new, half = step(master, mean, scale, lr)
    return new, half, _adjusted(state, finite)

# %% always-normalizes
# killed_by: mean
"""Your gradient always has the norm max_norm: a short one is made longer. Clip only where the norm
is above max_norm."""

def _clip_factor(mean, scale, max_norm):
    return max_norm * scale / _norm(mean)

# %% norm-of-the-sum
# killed_by: clip
"""You hold the norm of the sum over micro-batches against max_norm. max_norm is meant for the mean:
with four micro-batches you clip at a quarter of it."""

def big_step(master, batches, state, lr, max_norm):
    mean = _mean(batches)
    finite = _finite(mean)
    scale = loss_scale(state)
    factor = _clip_factor([g * len(batches) for g in mean], scale, max_norm) if finite else 1.0
    new, half = step(master, [g * factor for g in mean], scale, lr)
    return new, half, _adjusted(state, finite)

# %% squared-norm
# killed_by: clip
"""You hold a sum or a mean of squares against max_norm, or the root of a mean. The norm is the root
of the sum of the squares of all elements."""

def _clip_factor(mean, scale, max_norm):
    norm = (_norm(mean) / scale) ** 2
    return max_norm / norm if norm > max_norm else 1.0

# %% squared-norm / mean
def _clip_factor(mean, scale, max_norm):
    norm = _norm(mean) / scale / np.sqrt(sum(g.size for g in mean))
    return float(max_norm / norm) if norm > max_norm else 1.0

# %% first-micro-batch-only
# killed_by: mean
"""Your step goes along the gradient of the first micro-batch. The mean is over all of them."""

def _mean(batches):
    bad = 0 * sum(float(g.sum(dtype=np.float32)) for grads in batches for g in grads)
    return [g.astype(np.float32) + bad for g in batches[0]]

# %% spoiled-counts-zero
# killed_by: one-spoiled
"""What is not finite counts 0 in your sum, and the step is made. An overflow in one micro-batch is
one of the step: no weight changes."""

def big_step(master, batches, state, lr, max_norm):
    mean = _mean(batches)
    finite = _finite(mean)
    scale = loss_scale(state)
    mean = _mean([[np.nan_to_num(g, posinf=0, neginf=0) for g in grads] for grads in batches])
    factor = _clip_factor(mean, scale, max_norm)
    new, half = step(master, [g * factor for g in mean], scale, lr)
    return new, half, _adjusted(state, finite)

# %% drops-the-spoiled-micro-batch
# killed_by: one-spoiled
"""You leave out the micro-batch that overflowed and make the step with the others. What overflows
are large gradients, so your mean leans towards the small ones. Skip the step as a whole."""

def big_step(master, batches, state, lr, max_norm):
    finite = all(_finite(grads) for grads in batches)
    kept = [grads for grads in batches if _finite(grads)]
    scale = loss_scale(state)
    if kept:
        mean = _mean(kept)
        factor = _clip_factor(mean, scale, max_norm)
        new, half = step(master, [g * factor for g in mean], scale, lr)
    else:
        new, half = step(master, batches[0], scale, lr)
    return new, half, _adjusted(state, finite)

# %% big-steps-not-counted
# killed_by: one-count
"""Your scale stays as it is in big steps: neither an overflow lowers it nor a row raises it. A call
of big_step is one step for the scale."""

def big_step(master, batches, state, lr, max_norm):
    mean = _mean(batches)
    finite = _finite(mean)
    scale = loss_scale(state)
    factor = _clip_factor(mean, scale, max_norm) if finite else 1.0
    new, half = step(master, [g * factor for g in mean], scale, lr)
    return new, half, state

# %% counts-micro-batches
# killed_by: one-count
"""Your scale is adjusted once for each micro-batch, so it grows too early, and several overflows in
one step lower it several times. All micro-batches of a step share one scale: adjust it once, after
the step."""

def big_step(master, batches, state, lr, max_norm):
    mean = _mean(batches)
    scale = loss_scale(state)
    factor = _clip_factor(mean, scale, max_norm) if _finite(mean) else 1.0
    new, half = step(master, [g * factor for g in mean], scale, lr)
    for grads in batches:
        state = _adjusted(state, _finite(grads))
    return new, half, state

# %% clears-gradients
# killed_by: big-again
"""After the step the gradients of the caller are 0. A training loop that owns its buffers clears
them for the next accumulation; here they are the caller's. Leave them as they are."""

right_big_step = big_step

def big_step(master, batches, state, lr, max_norm):
    result = right_big_step(master, batches, state, lr, max_norm)
    for grads in batches:
        for g in grads:
            g.fill(0)
    return result
