# %% scale-per-input
# killed_by: weights
"""Your scales belong to inputs: the maximum is taken over axis 0 of w, which is (out, in), and they
are applied to outputs. Usually the code comes from a library that stores (in, out). Fresh weights
have almost equal maxima, which hides it. A scale can leave the sum over inputs only if it is the
same for all its terms: one for each output."""

def quantize_weight(w):
    scale = np.abs(w).max(axis=0) / w.dtype.type(TOP)
    return np.rint(w / scale).astype(np.int8), scale

# %% row-scales-across-columns
# killed_by: weights
"""Your scales are those of the rows, and each column is divided by one of them: a vector of F
scales lines up with the last axis of w. Usually only the axis of the maximum was changed. Divide by
scale[:, None]."""

def quantize_weight(w):
    scale = np.abs(w).max(axis=1) / w.dtype.type(TOP)
    return np.rint(w / scale).astype(np.int8), scale

# %% row-scales-across-columns / limited
def quantize_weight(w):
    scale = np.abs(w).max(axis=1) / w.dtype.type(TOP)
    return np.rint(np.clip(w / scale, -TOP, TOP)).astype(np.int8), scale

# %% one-scale-for-all
# killed_by: weights
"""You use one scale for the whole matrix, that of its largest row. Usually this is a maximum
without an axis. Rows a hundred times smaller get one or two of the 127 steps, or none. Each output
has its own."""

def quantize_weight(w):
    return _quantized(w, np.full(len(w), np.abs(w).max() / TOP, w.dtype))

# %% largest-wraps
# killed_by: weights
"""You divide by the maximum / 128, so that the largest weight becomes 128, and int8 makes -128 of
it: the largest weight changes its sign. Usually 2^7 was taken for the largest number. Scale to
127."""

def quantize_weight(w):
    scale = np.abs(w).max(axis=1) / w.dtype.type(128)
    scale = np.where(scale > 0, scale, 1).astype(w.dtype)
    return np.rint(w / scale[:, None]).astype(np.int16).astype(np.int8), scale

# %% maximum-of-signed
# killed_by: weights
"""Your scale is that of the largest weight, and not of the largest magnitude. A negative weight
that is larger in magnitude lies beyond -127 then, and wraps around or is cut off. Take the maximum
of np.abs(w)."""

def quantize_weight(w):
    scale = w.max(axis=1) / w.dtype.type(TOP)
    scale = np.where(scale > 0, scale, 1).astype(w.dtype)
    return np.rint(w / scale[:, None]).astype(np.int32).astype(np.int8), scale

# %% maximum-of-signed / cut-off
def quantize_weight(w):
    scale = w.max(axis=1) / w.dtype.type(TOP)
    scale = np.where(scale > 0, scale, 1).astype(w.dtype)
    return np.rint(np.clip(w / scale[:, None], -TOP, TOP)).astype(np.int8), scale

# %% cut-not-rounded
# killed_by: weights
"""You cut the fraction off where it should be rounded: astype(np.int8) goes toward 0. Every weight
becomes smaller, by half a step on average, where rounding errs as often up as down. Call np.rint
first."""

def _quantized(a, scale):
    return (a / scale[:, None]).astype(np.int8), scale

# %% sum-wraps-in-int8
# killed_by: product
"""The product of two int8 arrays is an int8 array, and 127 times 127 does not fit into it: sums
wrap around at 128. Widen both before they are multiplied."""

def _sums(xq, wq):
    return xq @ wq.T

# %% sum-wraps-in-int16
# killed_by: product
"""Your products are added in int16, which ends at 32,767: two of 127 by 127 fit, and a third wraps
around. Add in int32."""

def _sums(xq, wq):
    return xq.astype(np.int16) @ wq.T.astype(np.int16)

# %% sums-in-float32
# killed_by: wide
"""You add the products in float32, which holds all whole numbers up to 2^24 only; 1,041 products of
127 by 127 pass that. Usually it is done for speed, and right in every small test. Add in int32,
which lasts for 133,144 of them."""

def _sums(xq, wq):
    return xq.astype(np.float32) @ wq.T.astype(np.float32)

# %% one-scale-for-the-batch
# killed_by: tokens
"""All tokens share the scale of the largest one. Usually this is a maximum without an axis. Small
ones get a few steps, or become 0, and a token's result depends on what else is in the batch. Take
the maximum of each row."""

def _token_scales(x):
    return np.full(len(x), _scales(x.reshape(1, -1))[0], x.dtype)

# %% floor-of-1e-5
# killed_by: tokens
"""Your scale is never below some small number, 1e-5 / 127 for instance. A token that is smaller
than that loses its steps. A row of zeros needs a scale of its own, and nothing else does."""

def _token_scales(x):
    return (np.maximum(np.abs(x).max(axis=1), 1e-5) / TOP).astype(x.dtype)

# %% zero-by-zero
# killed_by: zeros
"""A row of zeros has a scale of 0, and you divide by it: 0 / 0 is invalid, and numpy raises
FloatingPointError where it was told to. What NaN becomes as an int8 is not defined. Give such a row
any other scale."""

def _scales(a):
    return (np.abs(a).max(axis=1) / TOP).astype(a.dtype)

# %% output-of-zeros
# killed_by: zero-weights
"""An output whose weights are all 0 has a scale of 0, and you divide by it: 0 / 0 is invalid, and
numpy raises FloatingPointError where it was told to. What NaN becomes as an int8 is not defined.
Guard weights as you guard tokens."""

def _scales(a):
    return (np.abs(a).max(axis=1) / TOP).astype(a.dtype)

def _token_scales(x):
    peak = np.abs(x).max(axis=1)
    return np.where(peak > 0, peak / TOP, 1).astype(x.dtype)

# %% scale-before-outliers-leave
# killed_by: outliers
"""Your token scales are chosen before the outlier columns leave, so that the rest still has a few
steps, and leaving them out gains little. Usually the scales were there first. Remove the columns,
then take the maximum."""

def linear(x, wq, w_scale, threshold=np.inf):
    out = _outliers(x, threshold)
    numbers, scale = _quantized(np.where(out, 0, x), _token_scales(x))
    return int8_linear(numbers, scale, wq, w_scale) + _apart(x, out, wq, w_scale)

# %% outliers-counted-twice
# killed_by: outliers
"""Columns with an outlier are multiplied in float32, and they are among the whole numbers as well:
they count twice. Set them to 0 before the others are quantized."""

def linear(x, wq, w_scale, threshold=np.inf):
    out = _outliers(x, threshold)
    y = int8_linear(*_quantized(x, _token_scales(x)), wq, w_scale)
    return y + _apart(x, out, wq, w_scale)

# %% outliers-dropped
# killed_by: outliers
"""Columns with an outlier are left out of the whole numbers and come back nowhere. What is largest
in x is missing from y. Multiply them in float32, and add them."""

def _apart(x, out, wq, w_scale):
    return 0

# %% outliers-by-entry
# killed_by: outliers
"""You take out the entries that reach the threshold, not the columns in which one does. Other
tokens keep theirs in that column among the whole numbers. The contract takes out columns: what is
left is then a matrix, of the same columns for all tokens."""

def linear(x, wq, w_scale, threshold=np.inf):
    out = np.abs(x) >= threshold
    kept = np.where(out, 0, x)
    y = int8_linear(*_quantized(kept, _token_scales(kept)), wq, w_scale)
    return y + np.where(out, x, 0) @ (wq * w_scale[:, None]).T

# %% threshold-exceeded
# killed_by: outliers
"""You leave out columns with an entry above the threshold; one that equals it stays. The contract
says reaches: compare with >=."""

def _outliers(x, threshold):
    return (np.abs(x) > threshold).any(axis=0)

# %% gradient-past-the-clip
# killed_by: gradients
"""Gradients flow through entries of x beyond the clip range. Wherever they are there, they give the
same xh, so their slope is 0; what they move is clip. Usually the straight-through step was put
around limiting and rounding together."""

def qat_backward(grad_y, x, w, clip):
    wq, scale = quantize_weight(w)
    x_hat = _rounded(x, clip)
    g = grad_y @ (wq * scale[:, None])
    return g, grad_y.T @ x_hat, float((g * _slopes_of_clip(x, x_hat, clip)).sum())

# %% rounding-has-no-slope
# killed_by: gradients
"""Your gradient of x is 0 throughout: that is the derivative of a staircase, almost everywhere, and
nothing below the layer learns from it. Straight-through estimation gives rounding a slope of 1."""

def qat_backward(grad_y, x, w, clip):
    wq, scale = quantize_weight(w)
    x_hat = _rounded(x, clip)
    g = grad_y @ (wq * scale[:, None])
    return np.zeros_like(x), grad_y.T @ x_hat, float((g * x_hat / clip).sum())

# %% weight-gradient-from-x
# killed_by: gradients
"""Your gradient of w multiplies grad_y with x. The forward pass multiplied wh with xh, which is
rounded and limited: that is what the slope in wh is."""

def qat_backward(grad_y, x, w, clip):
    wq, scale = quantize_weight(w)
    x_hat = _rounded(x, clip)
    g = grad_y @ (wq * scale[:, None])
    grad_clip = float((g * _slopes_of_clip(x, x_hat, clip)).sum())
    return g * _inside(x, clip), grad_y.T @ x, grad_clip

# %% weight-gradient-from-x / limited
def qat_backward(grad_y, x, w, clip):
    wq, scale = quantize_weight(w)
    x_hat = _rounded(x, clip)
    g = grad_y @ (wq * scale[:, None])
    grad_clip = float((g * _slopes_of_clip(x, x_hat, clip)).sum())
    return g * _inside(x, clip), grad_y.T @ np.clip(x, -clip, clip), grad_clip

# %% input-gradient-from-w
# killed_by: gradients
"""Gradients come back through w. The forward pass multiplied with wh, the rounded weights, so that
is what they come back through."""

def qat_backward(grad_y, x, w, clip):
    x_hat = _rounded(x, clip)
    g = grad_y @ w
    grad_clip = float((g * _slopes_of_clip(x, x_hat, clip)).sum())
    return g * _inside(x, clip), grad_y.T @ x_hat, grad_clip

# %% clip-gradient-outside-only
# killed_by: gradients
"""Your gradient of clip comes from the entries beyond it alone. clip is also the size of the steps:
within the range xh is clip / 127 times a whole number, and moves by (xh - x) / clip."""

def _slopes_of_clip(x, x_hat, clip):
    return np.where(_inside(x, clip), 0, np.sign(x))

# %% clip-gradient-without-sign
# killed_by: gradients
"""Your slope of xh in clip is 1 for all entries beyond the range. Those below -clip are limited to
-clip, which goes the other way: -1."""

def _slopes_of_clip(x, x_hat, clip):
    return np.where(_inside(x, clip), (x_hat - x) / clip, 1)

# %% clip-gradient-of-the-scale
# killed_by: gradients
"""Your slope of xh in clip is xh / clip, that of the factor clip / 127 alone. clip also divides x
before it is rounded, and rounding counts as slope 1: within the range that takes x / clip off
again."""

def _slopes_of_clip(x, x_hat, clip):
    return x_hat / clip

# %% edge-of-the-clip-shut
# killed_by: edge
"""An entry of x that equals clip passes no gradient, and counts as limited. The contract has it
inside: compare with <=."""

def _inside(x, clip):
    return np.abs(x) < clip

# %% threshold-of-signed
# killed_by: outliers
"""You compare entries with the threshold and not their magnitudes. A column whose outlier is
negative stays among the whole numbers, and its scale costs the others their steps. Compare
np.abs(x)."""

def _outliers(x, threshold):
    return (x >= threshold).any(axis=0)

# %% scale-to-more-than-127
# killed_by: weights
# parameters: {LARGEST: [127.5, 128.0]}
"""Your scale is the largest magnitude divided by {LARGEST}, and what lies beyond the range is cut
off. The largest weight of a row then loses half a step or more, and all others lie on another grid.
The smallest scale with which nothing is cut off is that magnitude / 127."""
LARGEST = 128.0

def quantize_weight(w):
    peak = np.abs(w).max(axis=1)
    scale = np.where(peak > 0, peak / LARGEST, 1).astype(w.dtype)
    return np.clip(np.rint(w / scale[:, None]), -TOP - 1, TOP).astype(np.int8), scale

# %% scale-to-more-than-127 / same-on-both-sides
LARGEST = 128.0

def quantize_weight(w):
    peak = np.abs(w).max(axis=1)
    scale = np.where(peak > 0, peak / LARGEST, 1).astype(w.dtype)
    return np.clip(np.rint(w / scale[:, None]), -TOP, TOP).astype(np.int8), scale

# %% limited-by-whole-numbers
# killed_by: gradients
"""Whether x is within the range you ask of the whole number that it was rounded to. Entries that
round to 127 without having been limited lose their gradient, and an entry that equals clip does,
too. Compare |x| with clip."""

def _inside(x, clip):
    return np.abs(np.rint(np.clip(x, -clip, clip) / clip * TOP)) < TOP
