# %% l2-in-gradient
# killed_by: decay
"""Your decay is part of the gradient: it goes through both moments and comes out divided by the
root of the second one. So a weight with small gradients decays fast and one with large gradients
hardly; one that never had any but 0 moves by the whole learning rate, whatever the decay. AdamW
keeps the decay apart: multiply the weight by 1 - lr * decay, and give the moments the plain
gradient."""

right_step = step

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    grads = [g if g is None else g + decay * p for p, g in zip(params, grads)]
    return right_step(params, grads, state, lr, beta1, beta2, eps, 0.0)

# %% decay-divided
# killed_by: decay
"""Your decay is divided by the root of the second moment, in which it does not appear itself. So a
weight with small gradients decays fast and one with large gradients hardly. AdamW keeps the decay
apart: multiply the weight by 1 - lr * decay, and add nothing to the gradient or to its mean."""

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for p, g, own in zip(params, grads, state):
        if g is None:
            new.append(p.copy())
            continue
        own["steps"] += 1
        _mix(own["m"], g, beta1)
        _mix(own["v"], g * g, beta2)
        root = np.sqrt(own["v"] / _correction(beta2, own["steps"])) + eps
        mean = own["m"] / _correction(beta1, own["steps"])
        new.append(p - lr * (mean + decay * p) / root)
    return new, state

# %% decay-divided / l2-in-first-moment
def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for p, g, own in zip(params, grads, state):
        if g is None:
            new.append(p.copy())
            continue
        own["steps"] += 1
        _mix(own["m"], g + decay * p, beta1)
        _mix(own["v"], g * g, beta2)
        new.append(p - _move(own, lr, beta1, beta2, eps))
    return new, state

# %% no-bias-correction
# killed_by: first-step
"""You use both moments uncorrected. They begin at 0: after one step m is a tenth of the gradient
and the root of v about a thirtieth, so the first step is 3.16 times too long, steps around the
tenth about 6.5 times, and it takes a thousand or more to wear off. Divide each by 1 minus its beta
to the power of the step."""

def _correction(beta, steps):
    return 1

# %% second-uncorrected
# killed_by: first-step
"""You correct the first moment and not the second. v begins at 0, so its root is too small at
first: with the usual betas the first step is 31.6 times too long. Divide v by 1 - beta2**t as well.
"""

def _move(own, lr, beta1, beta2, eps):
    return lr * (own["m"] / _correction(beta1, own["steps"])) / (np.sqrt(own["v"]) + eps)

# %% first-uncorrected
# killed_by: first-step
"""You correct the second moment and not the first. m begins at 0, so the first step has a tenth of
its length with the usual betas. Divide m by 1 - beta1**t as well."""

def _move(own, lr, beta1, beta2, eps):
    return lr * own["m"] / (np.sqrt(own["v"] / _correction(beta2, own["steps"])) + eps)

# %% correction-one-ahead
# killed_by: first-step
"""Your step count is one ahead: the first step is corrected as if it were the second. The first
step has t = 1; then it has the length lr wherever the gradient is large beside eps."""

def _correction(beta, steps):
    return 1 - beta ** (steps + 1)

# %% correction-one-ahead / count-from-one
right_fresh = _fresh

def _fresh(p):
    return {**right_fresh(p), "steps": 1}

# %% counter-per-parameter
# killed_by: first-step
"""Your step count goes up once for each parameter, so the first step of the second parameter is
corrected as step 2. The first parameter's first step is right, the others are not. Count once per
step, or for each parameter by itself."""

right_init = init

def init(params):
    return {"each": right_init(params), "steps": 0}

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for p, g, own in zip(params, grads, state["each"]):
        if g is None:
            new.append(p.copy())
            continue
        state["steps"] += 1
        own["steps"] = state["steps"]
        _mix(own["m"], g, beta1)
        _mix(own["v"], g * g, beta2)
        new.append(_decayed(p, lr, decay) - _move(own, lr, beta1, beta2, eps))
    return new, state

# %% shared-moments
# killed_by: first-step
"""Parameters of one shape share their moments, so each is moved by the other's gradients. Usually
the arrays are kept by shape, or one array stands in the list several times: repeating a list
repeats the reference and not the array."""

def init(params):
    moments = {p.shape: _fresh(p) for p in params}
    return [dict(moments[p.shape]) for p in params]

# %% root-forgotten
# killed_by: first-step
"""You divide by the second moment and not by its root. Small gradients then make long steps and
large ones short: a gradient of 0.02 gives a step of 50 lr. With the root the length does not depend
on the gradient's scale."""

def _move(own, lr, beta1, beta2, eps):
    mean = own["m"] / _correction(beta1, own["steps"])
    return lr * mean / (own["v"] / _correction(beta2, own["steps"]) + eps)

# %% betas-swapped
# killed_by: no-decay
"""Your first moment fades with beta2 and your second with beta1. A first step does not show it,
because each correction undoes its own beta. beta1, the faster one, is that of the mean of the
gradients."""

right_step = step

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    return right_step(params, grads, state, lr, beta2, beta1, eps, decay)

# %% decay-not-scaled-by-lr
# killed_by: decay
"""Each step takes the share `decay` off the weight, whatever the learning rate. torch takes lr *
decay, so that the decay follows the schedule: 0.01 means one part in a hundred thousand per step at
a rate of 1e-3."""

def _decayed(p, lr, decay):
    return p * (1 - decay)

# %% no-decay
# killed_by: decay
"""Your weights do not decay at all: `decay` has no effect. Multiply the weight by 1 - lr * decay in
every step."""

def _decayed(p, lr, decay):
    return p.copy()

# %% no-decay / in-place
def _decayed(p, lr, decay):
    return p

# %% moments-forgotten
# killed_by: no-decay
"""Your moments begin at 0 in every step, so nothing is averaged and each step is a first step. Keep
both in the state, and begin from what the step before left."""

right_mix = _mix

def _mix(moment, value, beta):
    moment[...] = 0
    right_mix(moment, value, beta)

# %% shared-second-moment
# killed_by: first-step
"""Several elements of a parameter share one second moment, the mean of their squares. AdamW has one
for every element: a first step has the length lr in each, however different the gradients are."""

def _square(g):
    return np.full_like(g, np.mean(g * g))

# %% shared-second-moment / of-a-row
def _square(g):
    return np.zeros_like(g) + np.mean(g * g, axis=-1, keepdims=True)

# %% largest-second-moment
# killed_by: no-decay
"""You divide by the root of the largest second moment so far. That is amsgrad=True, which is not
torch's default."""

def _move(own, lr, beta1, beta2, eps):
    now = own["v"] / _correction(beta2, own["steps"])
    own["largest"] = np.maximum(own.get("largest", now), now)
    return lr / _correction(beta1, own["steps"]) * own["m"] / (np.sqrt(own["largest"]) + eps)

# %% decay-scaled-twice
# killed_by: decay
"""Your decay is multiplied by lr twice, so at a rate of 0.001 it is a thousandth of what is asked
for. One factor: p * (1 - lr * decay)."""

right_decayed = _decayed

def _decayed(p, lr, decay):
    return right_decayed(p, lr, lr * decay)

# %% eps-not-added
# killed_by: eps
"""eps is not added to the root: it is left out, or is only its lower bound. torch adds it, which
shortens steps wherever the root is not large beside eps."""

right_move = _move

def _move(own, lr, beta1, beta2, eps):
    with np.errstate(all="ignore"):
        return right_move(own, lr, beta1, beta2, 0.0)

# %% eps-not-added / eps-as-a-floor
def _move(own, lr, beta1, beta2, eps):
    root = np.maximum(np.sqrt(own["v"] / _correction(beta2, own["steps"])), eps)
    return lr / _correction(beta1, own["steps"]) * own["m"] / root

# %% eps-in-second-moment
# killed_by: eps
"""eps is added to the second moment itself and stays in it, so that it adds up from step to step.
It belongs in the divisor: sqrt(v_hat) + eps, with v as it was."""

right_advance = _advance

def _advance(own, g, beta1, beta2):
    own = right_advance(own, g, beta1, beta2)
    own["v"] += EPS
    return own

EPS = 1e-8
right_step = step

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    global EPS
    EPS = eps
    return right_step(params, grads, state, lr, beta1, beta2, 0.0, decay)

# %% usual-betas-corrected
# killed_by: changing-settings
"""Your corrections are those of 0.9 and 0.999, whatever betas are given. They are 1 - beta1**t and
1 - beta2**t."""

right_move = _move

def _move(own, lr, beta1, beta2, eps):
    return right_move(own, lr, 0.9, 0.999, eps)

# %% rate-in-moment
# killed_by: changing-settings
"""You multiply the gradient by lr before it enters the first moment. With a constant rate that is
the same; when the rate changes, what m remembers still has the old ones. Keep lr out of the
moments: it scales the step as a whole."""

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for p, g, own in zip(params, grads, state):
        if g is None:
            new.append(p.copy())
            continue
        own["steps"] += 1
        _mix(own["m"], lr * g, beta1)
        _mix(own["v"], g * g, beta2)
        new.append(_decayed(p, lr, decay) - _move(own, 1.0, beta1, beta2, eps))
    return new, state

# %% settings-of-first-step
# killed_by: changing-settings
"""Every step of yours uses the settings of the first one. A schedule then has no effect. Use those
that each call is given."""

right_init, right_step = init, step

def init(params):
    return {"each": right_init(params), "settings": None}

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    if state["settings"] is None:
        state["settings"] = (lr, beta1, beta2, eps, decay)
    new, state["each"] = right_step(params, grads, state["each"], *state["settings"])
    return new, state

# %% eps-inside-root
# killed_by: eps
"""You add eps under the root. The root of 1e-8 is 1e-4, so gradients well below that hardly move
their weights. Outside the root eps matters for gradients around 1e-8 and below."""

def _move(own, lr, beta1, beta2, eps):
    mean = own["m"] / _correction(beta1, own["steps"])
    return lr * mean / np.sqrt(own["v"] / _correction(beta2, own["steps"]) + eps)

# %% eps-inside-root / uncorrected
def _move(own, lr, beta1, beta2, eps):
    mean = own["m"] / _correction(beta1, own["steps"])
    return lr * mean / np.sqrt((own["v"] + eps) / _correction(beta2, own["steps"]))

# %% eps-before-correction
# killed_by: eps
"""You add eps to the root of v before the correction, so in early steps it weighs up to 31.6 times
as much. That is the shorter form at the end of section 2 of the Adam paper, and some libraries use
it; torch does not. Correct the root first, and add eps then."""

def _move(own, lr, beta1, beta2, eps):
    mean = own["m"] / _correction(beta1, own["steps"])
    return lr * mean / ((np.sqrt(own["v"]) + eps) / np.sqrt(_correction(beta2, own["steps"])))

# %% decay-after-update
# killed_by: order
"""You take the step first and let the result decay, so that the step shrinks too. torch decays the
weight as it was, the one at which the gradient was taken. The difference is lr * decay of a step.
"""

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for p, g, own in zip(params, grads, state):
        if g is None:
            new.append(p.copy())
            continue
        own["steps"] += 1
        _mix(own["m"], g, beta1)
        _mix(own["v"], g * g, beta2)
        new.append(_decayed(p - _move(own, lr, beta1, beta2, eps), lr, decay))
    return new, state

# %% none-changes-state
# killed_by: frozen
"""Without a gradient the weight stays, and its state does not: moments fade or begin again. torch
passes over such a parameter altogether."""

right_step = step

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    state = [_fresh(p) if g is None else own for p, g, own in zip(params, grads, state)]
    return right_step(params, grads, state, lr, beta1, beta2, eps, decay)

# %% none-changes-state / none-lets-moments-fade
right_step = step

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    for g, own in zip(grads, state):
        if g is None:
            own["steps"] += 1
            own["m"] *= beta1
            own["v"] *= beta2
    return right_step(params, grads, state, lr, beta1, beta2, eps, decay)

# %% none-as-zero
# killed_by: frozen
"""You take a missing gradient for one of zeros. Zero is a statement about the loss, a missing
gradient is none: with zeros a frozen weight decays, moments fade and the count goes on. Pass such a
parameter over."""

right_step = step

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    grads = [np.zeros_like(p) if g is None else g for p, g in zip(params, grads)]
    return right_step(params, grads, state, lr, beta1, beta2, eps, decay)

# %% none-still-decays
# killed_by: frozen
"""Parameters without a gradient still decay; their moments and counts stand still, as they should.
torch passes such a parameter over altogether, so frozen weights stay exactly as they are."""

right_step = step

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new, state = right_step(params, grads, state, lr, beta1, beta2, eps, decay)
    for i, g in enumerate(grads):
        if g is None:
            new[i] = _decayed(params[i], lr, decay)
    return new, state

# %% count-goes-on
# killed_by: frozen
"""The step count of a parameter goes up in steps in which it has no gradient, too. One that gets
its first gradient in step 3 has moments that are one step old, but they are corrected as if they
were three. Usually one count serves all parameters; torch counts for each by itself."""

right_init = init

def init(params):
    return {"each": right_init(params), "steps": 0}

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    state["steps"] += 1
    for p, g, own in zip(params, grads, state["each"]):
        if g is None:
            new.append(p.copy())
            continue
        own["steps"] = state["steps"]
        _mix(own["m"], g, beta1)
        _mix(own["v"], g * g, beta2)
        new.append(_decayed(p, lr, decay) - _move(own, lr, beta1, beta2, eps))
    return new, state

# %% zeros-skipped
# killed_by: zero-gradient
"""A gradient of nothing but zeros is treated like a missing one: the weight stays, moments and
count stand still. Zeros are a gradient: moments fade, what is left of them moves the weight, and
the weight decays. Only None is passed over."""

right_step = step

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    grads = [g if g is not None and g.any() else None for g in grads]
    return right_step(params, grads, state, lr, beta1, beta2, eps, decay)

# %% zero-entries-skipped
# killed_by: zero-gradient
"""Elements whose gradient is exactly 0 stay as they are. That is how sparse variants treat rows
that were not looked up. In AdamW they decay, and what is left of their first moment goes on moving
them."""

right_step = step

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new, state = right_step(params, grads, state, lr, beta1, beta2, eps, decay)
    held = [w if g is None else np.where(g == 0, p, w) for p, g, w in zip(params, grads, new)]
    return held, state

# %% warmup-from-zero
# killed_by: warm-up
"""Your warm-up counts from 0: the first step has a learning rate of 0, so it is lost though moments
move. Counting from 1, step s has peak * s / warmup."""

right_lr_at = lr_at

def lr_at(step, peak, warmup, total):
    if step <= warmup:
        return peak * (step - 1) / warmup
    return right_lr_at(step, peak, warmup, total)

# %% warmup-from-zero / throughout
right_lr_at = lr_at

def lr_at(step, peak, warmup, total):
    return right_lr_at(step - 1, peak, warmup, total)

# %% warmup-from-zero / to-the-peak
right_lr_at = lr_at

def lr_at(step, peak, warmup, total):
    if step < warmup:
        return peak * (step - 1) / warmup
    return right_lr_at(step, peak, warmup, total)

# %% warmup-too-long
# killed_by: warm-up
"""Your warm-up divides by warmup + 1, so that step `warmup` falls short of the peak. Counting from
1, step s has peak * s / warmup."""

right_lr_at = lr_at

def lr_at(step, peak, warmup, total):
    if step <= warmup:
        return peak * step / (warmup + 1)
    return right_lr_at(step, peak, warmup, total)

# %% cosine-from-step-zero
# killed_by: cosine
"""Your cosine is that of step / total: it has begun at step 0, so that the rate drops at once when
the warm-up ends. It begins with the peak at step `warmup`: use (step - warmup) / (total - warmup).
"""

def lr_at(step, peak, warmup, total):
    if step <= warmup:
        return peak * step / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * min(1.0, step / total)))

# %% cosine-too-long
# killed_by: cosine
"""Your cosine takes `total` steps from the end of the warm-up on, so that at step `total` the rate
is not 0 yet. It has total - warmup steps: use (step - warmup) / (total - warmup)."""

def lr_at(step, peak, warmup, total):
    if step <= warmup:
        return peak * step / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warmup) / total)))

# %% cosine-rises-again
# killed_by: cosine
"""After step `total` your rate rises again, as the cosine does. A run that goes on a little longer
would end with growing steps. Keep the fraction at most 1."""

def lr_at(step, peak, warmup, total):
    if step <= warmup:
        return peak * step / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))

# %% linear-fall
# killed_by: cosine
"""Your rate falls along a straight line. Asked for is half a cosine, which is flat at both ends and
at half the peak in the middle."""

def lr_at(step, peak, warmup, total):
    if step < warmup:
        return peak * step / warmup
    return peak * max(0.0, (total - step) / (total - warmup))

# %% float64-returned
# killed_by: single-precision
"""Your float32 weights come back as float64. Usually np.zeros(p.shape) made the moments, which is
float64 unless a dtype is given (write np.zeros_like(p)), or a setting became a numpy number:
whatever meets one numpy float64 becomes float64."""

def _fresh(p):
    return {"m": np.zeros(p.shape), "v": np.zeros(p.shape), "steps": 0}

def _decayed(p, lr, decay):
    return p.astype(np.float64) * (1 - lr * decay)

# %% adam-defaults
# killed_by: defaults
"""Where no decay is given, nothing decays. That is the default of Adam; that of AdamW is 0.01, in
torch and here."""

right_step = step

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.0):
    return right_step(params, grads, state, lr, beta1, beta2, eps, decay)

# %% updates-in-place
# killed_by: [two-models, manners]
"""You write the new weights into the caller's own arrays. Frameworks do that, but here whoever
holds the old weights (an average, a second model, a comparison) finds them changed. Return new
arrays."""

right_step = step

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new, state = right_step(params, grads, state, lr, beta1, beta2, eps, decay)
    for p, w in zip(params, new):
        p[...] = w
    return list(params), state

# %% state-in-module
# killed_by: [two-models, manners]
"""Your step goes on with the moments and counts of the latest model, whichever state it is given,
so two models that are trained in turn disturb each other. Usually they are in a global. Put all
that a step needs into the state."""

right_init, right_step = init, step
current = None

def init(params):
    global current
    current = right_init(params)
    return "in the module"

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    global current
    new, current = right_step(params, grads, current, lr, beta1, beta2, eps, decay)
    return new, state

# %% moments-in-double
# killed_by: state
"""Your moments are float64 though the weights are float32: the state takes four times the bytes of
the weights in place of two. Usually it is np.zeros(p.shape), which is float64 unless a dtype is
given. float32 is enough for both: write np.zeros_like(p)."""

right_step = step

def _fresh(p):
    return {"m": np.zeros(p.shape), "v": np.zeros(p.shape), "steps": 0}

def _move(own, lr, beta1, beta2, eps):
    root = np.sqrt(own["v"] / _correction(beta2, own["steps"])) + eps
    return lr * (own["m"] / _correction(beta1, own["steps"])) / root

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    wide = [p.astype(np.float64) for p in params]
    new, state = right_step(wide, grads, state, lr, beta1, beta2, eps, decay)
    return [w.astype(p.dtype) for p, w in zip(params, new)], state

# %% name-bound-anew
# killed_by: in-place
"""The arrays of params hold the old weights. p = p - move makes a new array and binds a name, or a
place of a list, to it; the array stays as it was. p -= move, or p[...] = ..., writes into it."""

def step_in_place(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new, state = step(params, grads, state, lr, beta1, beta2, eps, decay)
    for p, w in zip(params, new):
        p = w
    return state

# %% name-bound-anew / in-the-list
def step_in_place(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    params[:], state = step(params, grads, state, lr, beta1, beta2, eps, decay)
    return state

# %% keeps-a-third-array
# killed_by: state
"""Your state keeps three arrays for each parameter. AdamW needs two, the moments. Usually the third
is scratch memory or a last step that was put into the state."""

right_move = _move

def _move(own, lr, beta1, beta2, eps):
    own["move"] = right_move(own, lr, beta1, beta2, eps)
    return own["move"]

# %% count-never-moves
# killed_by: no-decay
"""Your step count stays at 1, so that every step is corrected like the first one. The moments are
corrected too much from the second step on: with the usual betas by a factor of 10 for the mean and
of 31.6 for the root. Usually the new count is not put back into the state."""

right_advance = _advance

def _advance(own, g, beta1, beta2):
    return {**right_advance(own, g, beta1, beta2), "steps": 1}

# %% short-form-then-decay
# killed_by: [eps, order]
"""Two things differ from torch. eps is added to the root of v before the correction (the shorter form
of the Adam paper), so that in early steps it weighs up to 31.6 times as much; and the decay comes
after the step, so that it shrinks the step too. Lecture notes have both. torch corrects the root
before it adds eps, and decays the weight at which the gradient was taken."""

def _move(own, lr, beta1, beta2, eps):
    root = math.sqrt(_correction(beta2, own["steps"]))
    return lr * root / _correction(beta1, own["steps"]) * own["m"] / (np.sqrt(own["v"]) + eps)

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new, after = [], []
    for p, g, own in zip(params, grads, state, strict=True):
        if g is None:
            new.append(p.copy())
            after.append(own)
            continue
        own = _advance(own, g, beta1, beta2)
        new.append(_decayed(p - _move(own, lr, beta1, beta2, eps), lr, decay))
        after.append(own)
    return new, after

def step_in_place(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new, state = step(params, grads, state, lr, beta1, beta2, eps, decay)
    for p, w in zip(params, new, strict=True):
        p[...] = w
    return state

# %% short-form-then-decay / not-in-place
def _move(own, lr, beta1, beta2, eps):
    root = math.sqrt(_correction(beta2, own["steps"]))
    return lr * root / _correction(beta1, own["steps"]) * own["m"] / (np.sqrt(own["v"]) + eps)

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new, after = [], []
    for p, g, own in zip(params, grads, state, strict=True):
        if g is None:
            new.append(p.copy())
            after.append(own)
            continue
        own = _advance(own, g, beta1, beta2)
        new.append(_decayed(p - _move(own, lr, beta1, beta2, eps), lr, decay))
        after.append(own)
    return new, after
