# %% norm-per-array
# killed_by: clipped
"""Your clip scales each array by a factor of its own, from the norm of that array. [3, 4] and [0,
12] become [0.6, 0.8] and [0, 1]: that is another direction, with a cosine of 0.92 to the one
before, and a norm of 1.41. A list of one array does not show it. Take one norm over all arrays, and
one factor from it."""

def clip(grads, max_norm):
    norms = [norm_of([g]) for g in grads]
    for g, norm in zip(grads, norms):
        g *= scale_of(norm, max_norm)
    return max(norms)

# %% norm-per-array / logs-all
def clip(grads, max_norm):
    norm = norm_of(grads)
    for g in grads:
        g *= scale_of(norm_of([g]), max_norm)
    return norm

# %% clips-after-step
# killed_by: [step, survives]
"""Your train_step moves the weights by the whole gradient, however long it is. Usually clip comes
after opt.step: what it scales then is thrown away, and the norm that it returns looks well in the
log. Clip between loss_and_grads and opt.step."""

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    if usable:
        opt.step(params, grads)
    norm = clip(grads, max_norm) if usable else math.nan
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}

# %% always-scales
# killed_by: small
"""Your clip brings short gradients to max_norm as well: a norm of 13 becomes 20 where max_norm is
20. Then steps no longer get shorter when gradients do. Multiply by max_norm / norm only where that
is below 1."""

def scale_of(norm, max_norm):
    return max_norm / norm if norm > 0 and math.isfinite(max_norm) else 1.0

# %% always-scales / unguarded
def scale_of(norm, max_norm):
    return max_norm / norm if norm > 0 else 1.0

# %% clips-values
# killed_by: clipped
"""Your clip cuts every element off at max_norm. [3, 4] and [0, 12] become [1, 1] and [0, 1]: that
is another direction, with a cosine of 0.84 to the one before, and a norm of 1.73. One factor for
all elements keeps the direction."""

def clip(grads, max_norm):
    norm = norm_of(grads)
    for g in grads:
        np.clip(g, -max_norm, max_norm, out=g)
    return norm

# %% logs-norm-after
# killed_by: clipped
"""What your clip returns is never above max_norm: it is the norm that clipping leaves. In the log
batch 300 then looks like any other that was clipped, and nobody is warned. Return the norm of
before."""

def clip(grads, max_norm):
    scale = scale_of(norm_of(grads), max_norm)
    for g in grads:
        g *= scale
    return norm_of(grads)

# %% clips-copies
# killed_by: clipped
"""After your clip the caller's arrays are as they were. Usually it is g = g * scale, which makes a
new array and leaves the old one alone, or new arrays are put into the list, and who holds the old
ones does not see them. g *= scale writes into the array."""

def clip(grads, max_norm):
    norm = norm_of(grads)
    scale = scale_of(norm, max_norm)
    for g in grads:
        g = g * scale
    return norm

# %% clips-copies / replaces-entries
def clip(grads, max_norm):
    norm = norm_of(grads)
    scale = scale_of(norm, max_norm)
    grads[:] = [g * scale for g in grads]
    return norm

# %% sum-of-norms
# killed_by: clipped
"""Your norm is the sum of the norms of the arrays, 17 for [3, 4] and [0, 12], where it is 13. Long
gradients come out too short, by up to the root of the number of arrays. Add up squares, and take
one root at the end."""

def norm_of(grads):
    return sum(float(np.sqrt(np.sum(np.square(g, dtype=np.float64)))) for g in grads)

# %% largest-norm
# killed_by: clipped
"""Your norm is that of the longest array, 12 for [3, 4] and [0, 12], where it is 13. What is
clipped to it can still be longer than max_norm, by up to the root of the number of arrays. Add up
the squares of all arrays, and take one root."""

def norm_of(grads):
    return max(float(np.sqrt(np.sum(np.square(g, dtype=np.float64)))) for g in grads)

# %% root-forgotten
# killed_by: clipped
"""Your norm is the sum of the squares, 169 for [3, 4] and [0, 12], where it is 13. Norms above 1
are taken for larger than they are, and gradients come out too short; norms below 1 are taken for
smaller. Take the root."""

def norm_of(grads):
    return sum(float(np.sum(np.square(g, dtype=np.float64))) for g in grads)

# %% root-mean-square
# killed_by: clipped
"""Your norm is the root of the mean of the squares: 5.81 for [3, 4], [0, 12] and a third array of
one zero, where it is 13. The more weights a model has, the less it is clipped then. Add the squares
up, and divide by nothing."""

def norm_of(grads):
    squares = sum(float(np.sum(np.square(g, dtype=np.float64))) for g in grads)
    return math.sqrt(squares / sum(g.size for g in grads))

# %% scaled-twice
# killed_by: clipped
"""Your arrays come out shorter than max_norm, by the factor once more: a norm of 13 becomes 1 / 13
where max_norm is 1. Usually two loops scale, or an array is scaled where it is handed on. Multiply
once."""

def clip(grads, max_norm):
    norm = norm_of(grads)
    scale = scale_of(norm, max_norm)
    for g in grads:
        g *= scale
        g *= scale
    return norm

# %% one-array-decides
# killed_by: clipped
"""Your norm is that of one array, the first or the last of the list. Usually a loop overwrites what
it should add to. Add up the squares of all arrays."""

def norm_of(grads):
    return float(np.linalg.norm(grads[-1]))

# %% one-array-decides / first
def norm_of(grads):
    return float(np.linalg.norm(grads[0]))

# %% long-steps-left-out
# killed_by: step
"""Where the gradients are too long you make no step at all. Clipping keeps their direction and
shortens them; the batch still counts."""

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    norm = clip(grads, max_norm) if usable else math.nan
    if usable:
        if norm <= max_norm:
            opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}

# %% update-clipped
# killed_by: step
"""You clip the change of the weights, after the optimizer has made it. Then max_norm is a length of
steps and not of gradients, and the optimizer has kept the long gradient in its momentum. Clip the
gradients, before opt.step."""

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    norm = norm_of(grads) if usable else math.nan
    if usable:
        before = [p.copy() for p in params]
        opt.step(params, grads)
        moves = [p - old for p, old in zip(params, before)]
        clip(moves, max_norm)
        for p, old, move in zip(params, before, moves):
            p[...] = old + move
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}

# %% loss-after-the-step
# killed_by: step
"""The loss that you log is that of the weights after the step. Return the one that came with the
gradients: it belongs to the weights that the step began with."""

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    norm = clip(grads, max_norm) if usable else math.nan
    if usable:
        opt.step(params, grads)
    return {"loss": loss_and_grads(params, batch)[0], "grad_norm": norm, "skipped": not usable}

# %% never-skips
# killed_by: [not-finite, survives-nan]
"""Your step goes on with gradients that are not finite, and the weights are NaN from then on.
Clipping is no cure: the norm is NaN or infinite as well, and a factor of NaN, or of max_norm /
infinity = 0, makes NaN of what was infinite. Look at the loss and at the gradients before opt.step,
and leave the step out."""

def is_usable(loss, grads):
    return True

# %% never-skips / one-nan-for-all
def is_usable(loss, grads):
    return True

def scale_of(norm, max_norm):
    return 1.0 if norm <= max_norm else max_norm / norm

# %% nan-only
# killed_by: not-finite
"""Your step is skipped for what is NaN and not for what is infinite. With an infinite entry the
norm is infinite too, the factor max_norm / norm is 0, and 0 times infinity is the NaN that goes
into the weights. Ask whether everything is finite."""

def is_usable(loss, grads):
    return not (np.isnan(loss) or any(np.any(np.isnan(g)) for g in grads))

# %% loss-only
# killed_by: not-finite
"""Your step looks at the loss and not at the gradients. A finite loss may have gradients that are
not: the slope of a root is infinite at 0, and a gradient may overflow on its way back. Look at
every element."""

def is_usable(loss, grads):
    return math.isfinite(loss)

# %% some-are-missed
# killed_by: not-finite
"""Your step goes on with some gradients that are not finite. Usually only one of the arrays is
looked at, or x < inf is asked, which minus infinity passes. Ask np.isfinite of every element of
every array."""

def is_usable(loss, grads):
    return bool(np.isfinite(loss)) and bool(np.all(np.isfinite(grads[0])))

# %% some-are-missed / minus-infinity
def is_usable(loss, grads):
    return bool(loss < math.inf) and all(bool(np.all(g < math.inf)) for g in grads)

# %% zeros-raise
# killed_by: edges
"""Your clip raises an exception where all gradients are 0: it divides max_norm by the norm before
it asks whether there is anything to clip. Ask first, or add 1e-6 to the norm as torch does."""

def scale_of(norm, max_norm):
    return min(1.0, max_norm / norm)

# %% flat-copies-scaled
# killed_by: edges
"""Arrays whose memory is not in one piece come back unscaled: ravel and reshape make a copy of such
an array, and the copy is scaled. g *= scale writes through any strides."""

def clip(grads, max_norm):
    norm = norm_of(grads)
    scale = scale_of(norm, max_norm)
    for g in grads:
        flat = g.reshape(-1)
        flat *= scale
    return norm

# %% clipped-is-skipped
# killed_by: not-finite
"""Your log says "skipped" where gradients were clipped. A clipped step is a step: the weights have
moved."""

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    norm = clip(grads, max_norm) if usable else math.nan
    if usable:
        opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm, "skipped": not norm <= max_norm}

# %% gradients-only
# killed_by: loss
"""Your step looks at the gradients and not at the loss. The loss may be NaN or infinite where they
are finite, and such a batch is skipped as well."""

def is_usable(loss, grads):
    return all(bool(np.all(np.isfinite(g))) for g in grads)

# %% nan-to-zero
# killed_by: not-finite
"""Your step puts 0 in the place of what is not finite, and goes on with the rest. What is left is
not the gradient of the loss, and the weights move by it. Leave the step out."""

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    for g in grads:
        np.nan_to_num(g, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}

# %% steps-with-zeros
# killed_by: kept
"""Your step hands the optimizer zeros for a batch that is not finite. Plain SGD stands still then,
and Adam does not: its count goes up, its moments fade, and what is left of the first one moves the
weights. Do not call opt.step."""

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    if not usable:
        grads = [np.zeros_like(g) for g in grads]
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}

# %% skip-is-remembered
# killed_by: kept
"""A step that is skipped changes the optimizer: its count goes up, or its moments begin again.
Return before anything of it is touched."""

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    norm = clip(grads, max_norm) if usable else math.nan
    if usable:
        opt.step(params, grads)
    elif hasattr(opt, "t"):
        opt.t += 1
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}

# %% skip-is-remembered / in-the-moments
def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    norm = clip(grads, max_norm) if usable else math.nan
    if usable:
        opt.step(params, grads)
    elif hasattr(opt, "t"):
        opt.t = 0
        for moment in (*opt.m, *opt.v):
            moment[...] = 0
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}

# %% weights-rolled-back
# killed_by: kept
"""Your step puts the weights back as they were, and leaves in the optimizer what it made of the
batch: Adam's moments are NaN now, and with the next step so are the weights. Look at the gradients
before opt.step, not at the weights after it."""

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    before = [p.copy() for p in params]
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    if not usable:
        for p, old in zip(params, before):
            p[...] = old
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}

# %% large-is-skipped
# killed_by: large
"""Your step is skipped for gradients that are large and finite. Clipping is for those: it keeps
their direction. Skip what np.isfinite refuses, and nothing else."""

right_usable = is_usable

def is_usable(loss, grads):
    return right_usable(loss, grads) and all(bool(np.all(np.abs(g) < 1e6)) for g in grads)

# %% mean-baseline
# killed_by: in-a-row
"""You compare with the mean of the window. A spike of 40 among ones and twos makes it 9.2, so that
the spike of 50 after it is not found. One element hardly moves the median."""

def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - window, 0) : step] if math.isfinite(n)]
        if not math.isfinite(norm) or (before and norm > factor * float(np.mean(before))):
            found.append(step)
    return found

# %% fixed-threshold
# killed_by: isolated
"""You compare norms with factor itself, whatever is usual in the run. Among ones and twos 15 is no
spike by a factor of 10, and where norms are around 0.001, one that is a thousand times as large
goes unseen. Compare with factor times the median of the window."""

def find_spikes(norms, window=100, factor=100.0):
    return [i for i, norm in enumerate(norms) if not math.isfinite(norm) or norm > factor]

# %% against-the-step-before
# killed_by: level
"""You compare each norm with one norm before it. A single small norm can make a spike of the next
one, and a large one can hide it; where norms rise for good, only the first step is found. Compare
with the median of the window."""

def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - 1, 0) : step] if math.isfinite(n)]
        if not math.isfinite(norm) or (before and norm > factor * before[0]):
            found.append(step)
    return found

# %% against-the-step-before / against-the-last-finite
def find_spikes(norms, window=100, factor=100.0):
    found, last = [], None
    for step, norm in enumerate(norms):
        if not math.isfinite(norm) or (last is not None and norm > factor * last):
            found.append(step)
        if math.isfinite(norm):
            last = norm
    return found

# %% own-norm-in-window
# killed_by: early
"""The norm of a step is in the window that it is compared with. Where there are few before it, it
lifts the median: in the second step 40 is not above ten times the median of 1 and 40, which is 205.
Compare with the steps before."""

def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        around = [n for n in norms[max(step + 1 - window, 0) : step + 1] if math.isfinite(n)]
        if not math.isfinite(norm) or norm > factor * float(np.median(around)):
            found.append(step)
    return found

# %% blinded-by-nan
# killed_by: nan-norms
"""You take the median of everything in the window, and where a NaN is among it, that is NaN. No
norm is above it, so one NaN leaves you without an alarm for a whole window. Take the median of the
finite norms."""

def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = norms[max(step - window, 0) : step]
        if not math.isfinite(norm) or (before and norm > factor * float(np.median(before))):
            found.append(step)
    return found

# %% nan-is-no-spike
# killed_by: nan-norms
"""A NaN norm is no spike for you. Usually it is only compared with a number, and no comparison with
NaN is true. Ask first whether the norm is finite."""

def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - window, 0) : step] if math.isfinite(n)]
        if before and norm > factor * float(np.median(before)):
            found.append(step)
    return found

# %% nan-is-no-spike / nonfinite-is-no-spike
def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - window, 0) : step] if math.isfinite(n)]
        if math.isfinite(norm) and before and norm > factor * float(np.median(before)):
            found.append(step)
    return found

# %% one-in-the-middle
# killed_by: early
"""Of an even number of norms you take one of the two in the middle. The median is the mean of both,
as np.median has it."""

def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - window, 0) : step] if math.isfinite(n)]
        if not math.isfinite(norm) or (before and norm > factor * sorted(before)[len(before) // 2]):
            found.append(step)
    return found

# %% window-off-by-one
# killed_by: usual
"""Your window has one step too few or too many. It is norms[max(step - window, 0) : step]: `window`
steps, and not the step itself."""

def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - window + 1, 0) : step] if math.isfinite(n)]
        if not math.isfinite(norm) or (before and norm > factor * float(np.median(before))):
            found.append(step)
    return found

# %% window-off-by-one / longer
def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - window - 1, 0) : step] if math.isfinite(n)]
        if not math.isfinite(norm) or (before and norm > factor * float(np.median(before))):
            found.append(step)
    return found

# %% whole-history
# killed_by: [level, usual]
"""You take the median over all steps so far, whatever the window is. After 60 norms around 0.001,
norms around 1 are spikes 60 times then; with a window of 100 it is 50 times. The longer a run is,
the longer it takes."""

def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[:step] if math.isfinite(n)]
        if not math.isfinite(norm) or (before and norm > factor * float(np.median(before))):
            found.append(step)
    return found

# %% spikes-left-out
# killed_by: level
"""You leave the norms of spikes out of the window. When norms rise to another level for good, what
is compared with stays the old one, and the alarm goes on for a whole window or for ever. Norms of
spikes count as the others do."""

def find_spikes(norms, window=100, factor=100.0):
    found, usual = [], []
    for step, norm in enumerate(norms):
        before = usual[-window:]
        if not math.isfinite(norm) or (before and norm > factor * float(np.median(before))):
            found.append(step)
        else:
            usual.append(norm)
    return found

# %% spikes-left-out / of-the-window
def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        near = range(max(step - window, 0), step)
        before = [norms[i] for i in near if i not in found]
        if not math.isfinite(norm) or (before and norm > factor * float(np.median(before))):
            found.append(step)
    return found

# %% waits-for-a-full-window
# killed_by: early
"""You compare no norm with anything until the window is full, so that with a window of 100 the
first 100 steps go unwatched. Near the beginning take what there is."""

def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - window, 0) : step] if math.isfinite(n)]
        full = step >= window and before
        if not math.isfinite(norm) or (full and norm > factor * float(np.median(before))):
            found.append(step)
    return found
