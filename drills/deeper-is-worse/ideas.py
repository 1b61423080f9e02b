# %% as-it-came
# killed_by: [share, moves]
"""Your towers begin as in the script that you were given: what a block adds does not get smaller with
depth, and new blocks get gradients of 0. No rate makes up for either."""

def _draw(rng, rows, columns, scale):
    return rng.standard_normal((rows, columns)) * scale / np.sqrt(columns)

def _scales(depth):
    return depth**-0.5, 2**0.5

def _new(rng):
    return {**_block(rng, 1.0, 1.0), "v": np.zeros((HIDDEN, WIDTH)), "gain": np.array(0.0)}

def causes():
    return []

# %% full-size-at-any-depth
# killed_by: share
"""Your blocks all add a mean square of 1, whatever the depth. They are independent, so that mean squares
add up: 32 blocks add 32 of them. Either there is no factor for depth, or it is on u, where the norm behind
u takes it out again. It belongs on what comes last in the branch."""

def _scales(depth):
    return depth**-0.5, np.sqrt(2)

# %% full-size-at-any-depth / no-factor
def _scales(depth):
    return 1.0, np.sqrt(2)

# %% fan-out
# killed_by: [entry-least, share]
"""Your weights are divided by the root of their columns, the number of outputs. An output is a sum over
the inputs, the rows: w_in gives half of the mean square that it gets, and v, with four times as many rows
as columns, four times as much as it should."""

def _draw(rng, rows, columns, scale):
    return rng.standard_normal((rows, columns)) * scale / np.sqrt(columns)

# %% divided-by-depth
# killed_by: least
"""Your v is divided by the depth, and not by its root: each block adds a mean square of 1/depth^2, and all
of a deep tower's blocks together next to nothing. Independent parts add up in mean square."""

def _scales(depth):
    return 1.0, np.sqrt(2) / depth

# %% fourth-root
# killed_by: share
"""Your v is divided by the fourth root of the depth, so that mean squares get smaller as its root only:
what 100 blocks add has one of 10."""

def _scales(depth):
    return 1.0, np.sqrt(2) / depth**0.25

# %% inputs-not-scaled
# killed_by: entry
"""Your w_in is drawn with a deviation of 1, so that x @ w_in has the mean square of eight inputs. Divide
by the root of the number of inputs."""

right_init = init

def init(depth, rng):
    params = right_init(depth, rng)
    return {**params, "w_in": params["w_in"] * np.sqrt(INPUTS)}

# %% one-draw-for-all
# killed_by: shapes
"""Your blocks begin with the same weights. Each is to be drawn by itself: equal ones add up along one
direction in place of many."""

def init(depth, rng):
    block = _block(rng, *_scales(depth))
    return {
        "w_in": _draw(rng, INPUTS, WIDTH, 1.0),
        "w_out": _draw(rng, WIDTH, CLASSES, 1.0),
        "blocks": [dict(block) for _ in range(depth)],
    }

# %% both-factors-zero
# killed_by: moves
"""Your new blocks begin with gain and v at 0. The gradient of each is a product with the other one in it,
so that both are 0 for ever, and u has none either: the blocks add nothing now and later. One zero
is enough."""

def _new(rng):
    return {**_block(rng, 1.0, 1.0), "v": np.zeros((HIDDEN, WIDTH)), "gain": np.array(0.0)}

# %% first-factor-zero
# killed_by: moves
"""Your new blocks begin with u at 0. All hidden units are 0 then, so that v and gain get no gradient, and
relu passes nothing back at 0, so that u gets none: no step wakes them. A zero has to be behind the
nonlinearity."""

def _new(rng):
    return {**_block(rng, 1.0, 1.0), "u": np.zeros((WIDTH, HIDDEN))}

# %% first-factor-zero / and-v
def _new(rng):
    return {"u": np.zeros((WIDTH, HIDDEN)), "v": np.zeros((HIDDEN, WIDTH)), "gain": np.array(1.0)}

# %% first-factor-zero / and-gain
def _new(rng):
    return {**_block(rng, 1.0, 1.0), "u": np.zeros((WIDTH, HIDDEN)), "gain": np.array(0.0)}

# %% new-blocks-at-full-size
# killed_by: nothing-new
"""Your new blocks are drawn as all others, and the loss of a trained tower jumps when they come in. They
are to add nothing at first; a factor of 0 at the end of the branch does that."""

def _new(rng):
    return _block(rng, 1.0, np.sqrt(2))

# %% new-blocks-small
# killed_by: nothing-new
"""Your new blocks begin with a small gain. They change little, and the contract asks for nothing; a gain of
exactly 0 learns from the first step on, where v is not 0."""

def _new(rng):
    return {**_block(rng, 1.0, np.sqrt(2)), "gain": np.array(1e-4)}

# %% new-blocks-first
# killed_by: nothing-new
"""Your new blocks come before the trained ones. They add nothing there either, and the contract has them
behind."""

def grow(params, more, rng):
    return {**params, "blocks": [_new(rng) for _ in range(more)] + params["blocks"]}

# %% ascends
# killed_by: descent
"""Your step adds the gradient. It leads to more loss; take it off."""

def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    new = {name: params[name] + rate * grads[name] for name in ("w_in", "w_out")}
    new["blocks"] = [
        {name: block[name] + rate * grad[name] for name in block}
        for block, grad in zip(params["blocks"], grads["blocks"], strict=True)
    ]
    return new, loss

# %% decays-all
# killed_by: descent
"""Your step decays weights, gains among them. Asked for is a step of plain gradient descent."""

right_step = step

def step(params, x, y, rate=0.02):
    shrunk = {name: params[name] * (1 - 0.01 * rate) for name in ("w_in", "w_out")}
    shrunk["blocks"] = [{k: v * (1 - 0.01 * rate) for k, v in b.items()} for b in params["blocks"]]
    new, loss = right_step(params, x, y, rate)
    for name in ("w_in", "w_out"):
        new[name] = new[name] - params[name] + shrunk[name]
    new["blocks"] = [
        {k: n[k] - b[k] + s[k] for k in n}
        for n, b, s in zip(new["blocks"], params["blocks"], shrunk["blocks"], strict=True)
    ]
    return new, loss

# %% branches-alone
# killed_by: [arriving, whole]
"""You multiply by J alone, as in a stack without skips. Each block passes its input on beside the branch,
so that its factor is I + J; without the identity nothing is left after a few blocks."""

def _back(j, grad):
    return j.T @ grad

def _further(j, product):
    return j @ product

# %% identity-alone
# killed_by: arriving
"""You pass the gradient on as it is. That is the way along the skips; what comes through the branches is
added to it at every block, and may take it away."""

def _back(j, grad):
    return grad

# %% sum-of-branches
# killed_by: whole
"""Your whole is the identity plus the sum of all J. There are paths through two and more branches too: the
factors I + J multiply out to all of them."""

def whole(jacobians, d):
    return np.eye(d) + sum(jacobians, np.zeros((d, d)))

# %% first-block-on-the-left
# killed_by: whole
"""You multiply in the order of the blocks, with the first on the left. What is done last stands on the
left: h_L = (I + J_last) ... (I + J_first) h_0, to first order."""

def _further(j, product):
    return product + product @ j

# %% no-blocks-raise
# killed_by: no-blocks
"""Your whole raises an exception where there are no blocks. What no block changes has the identity as its
derivative; begin the product with it."""

def whole(jacobians, d):
    product = np.eye(d) + jacobians[0]
    for j in jacobians[1:]:
        product = _further(j, product)
    return product

# %% rows-for-columns
# killed_by: arriving
"""You multiply by J where its transpose is due. Its rows are outputs, and the gradient comes in at the
outputs."""

def _back(j, grad):
    return grad + j @ grad

# %% from-the-first-block
# killed_by: arriving
"""You go through the blocks from the first to the last. The gradient comes in at the end: the last block
is the first that it meets."""

def arriving(jacobians, grad):
    found = [grad]
    for j in jacobians:
        found.append(_back(j, found[-1]))
    return np.array(found[::-1])

# %% listed-from-the-end
# killed_by: arriving
"""Your list begins with the gradient by h_L. Asked for is h_0 first."""

def arriving(jacobians, grad):
    found = [grad]
    for j in jacobians[::-1]:
        found.append(_back(j, found[-1]))
    return np.array(found)

# %% fan-in-left-out
# killed_by: widths
"""You compare the deviations of the weights as they are. Those of a layer with more inputs are smaller
by right: compare them times the root of the fan-in."""

def _size(w):
    return np.sqrt(np.mean(w**2))

# %% fan-of-the-outputs
# killed_by: widths
"""You compare deviations times the root of the number of columns, the outputs. A unit is a sum over its
inputs, the rows."""

def _size(w):
    return np.sqrt(np.mean(w**2) * w.shape[1] / 2)

# %% relu-left-out
# killed_by: odd
"""Your scales are those of a chain without ReLU: it passes half of the mean square, so that 1 stands for a
deviation of the root of 2 / fan_in."""

def _size(w):
    return np.sqrt(np.mean(w**2) * len(w))

# %% magnitudes-for-roots
# killed_by: odd
"""You take the mean of the magnitudes for the deviation. Of normal numbers it is 0.8 times as large."""

def _size(w):
    return np.mean(np.abs(w)) * np.sqrt(len(w) / 2)

# %% largest-only
# killed_by: odd
"""You look for weights that are too large. A layer whose weights are a thousand times too small has the
largest gradient, and harms as much."""

def odd_layer(weights):
    sizes = np.array([_size(w) for w in weights])
    common, odd = np.median(sizes), int(np.argmax(sizes))
    if sizes[odd] / common < FAR:
        return None, 1.0, float(common)
    return odd, float(sizes[odd] / common), float(np.median(np.delete(sizes, odd)))

# %% smallest-only
# killed_by: odd
"""You look for weights that are too small. They have the gradient that strikes the eye; weights that are too
large have the smallest one."""

def odd_layer(weights):
    sizes = np.array([_size(w) for w in weights])
    common, odd = np.median(sizes), int(np.argmin(sizes))
    if sizes[odd] / common > 1 / FAR:
        return None, 1.0, float(common)
    return odd, float(sizes[odd] / common), float(np.median(np.delete(sizes, odd)))

# %% by-what-to-multiply
# killed_by: odd
"""Your factor is the one that repairs the layer. Asked for is the one by which it is off."""

right_odd_layer = odd_layer

def odd_layer(weights):
    layer, ratio, common = right_odd_layer(weights)
    return layer, 1 / ratio, common

# %% measured-against-one
# killed_by: common
"""You measure each layer against a scale of 1, and not against the others. Where all are off alike none of
them is odd, and the common factor says what is wrong."""

def odd_layer(weights):
    sizes = np.array([_size(w) for w in weights])
    odd = int(np.argmax(np.abs(np.log(sizes))))
    common = float(np.median(np.delete(sizes, odd)))
    if 1 / FAR < sizes[odd] < FAR:
        return None, 1.0, common
    return odd, float(sizes[odd]), common

# %% others-by-their-mean
# killed_by: odd
"""Your common factor is the mean over all layers, the odd one among them. One layer of thirty times the size
moves it; leave it out, or take a median."""

def odd_layer(weights):
    sizes = np.array([_size(w) for w in weights])
    common = float(np.mean(sizes))
    odd = int(np.argmax(np.abs(np.log(sizes / np.median(sizes)))))
    if 1 / FAR < sizes[odd] / np.median(sizes) < FAR:
        return None, 1.0, common
    return odd, float(sizes[odd] / common), common

# %% common-taken-for-one
# killed_by: common
"""Your common factor is always 1. Layers that all agree may all be wrong: thirty of them at 0.23 leave
nothing of what comes in."""

right_odd_layer = odd_layer

def odd_layer(weights):
    layer, ratio, _ = right_odd_layer(weights)
    return layer, ratio, 1.0
