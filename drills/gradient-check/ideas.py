# %% ones-cotangent
# killed_by: rejects
"""Your check compares gradients of the plain sum of y, in which grad_y is 1 throughout, and so
accepts a backward that never looks at grad_y. The outputs of a softmax sum to 1, so the gradient of
their sum is 0 whatever y depends on: there your check compares rounding with 0. Draw grad_y at
random."""

def draw_grad_y(rng, shape):
    return np.ones(shape)

# %% ones-cotangent / with-a-floor
def draw_grad_y(rng, shape):
    return np.ones(shape)

def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    return np.allclose(grad_x, measured, rtol=1e-5, atol=1e-8)

# %% loose-tolerance
# killed_by: rejects
"""Your check accepts a gradient that is off by two thousandths everywhere. Central differences in
float64 agree with a right one to about 1e-10 of its largest element, so a tolerance that lets this
through gives away seven digits. Factors near 1, such as (n - 1)/n for a large n, hide in it. 1e-5
of the largest element leaves room enough."""

TOLERANCE = 1e-2

# %% loose-tolerance / with-a-floor
def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    return np.allclose(grad_x, measured, rtol=1e-2, atol=1e-6)

# %% one-entry
# killed_by: rejects
"""Your check moves one element of x and accepts gradients that are wrong in others: in the last
element, or where x is negative. Move every element in turn, or all of them together along random
directions."""

def slopes(forward, grad_y, x):
    return slope(forward, grad_y, x, (0, 0))

def agree(grad_x, measured):
    return abs(grad_x[0, 0] - measured) <= TOLERANCE * abs(measured)

# %% step-too-large
# killed_by: accepts
"""Your check rejects right gradients of layers that curve, and accepts that of a straight one; its
steps are above 0.01. A central difference then measures a chord: it is off by h^2/6 times the third
derivative, for h = 0.1 by two thousandths. Take h around 1e-5."""

STEP = 0.1

# %% step-too-small
# killed_by: accepts
"""Your check rejects every right gradient. Its steps are below 1e-9: y then changes in its last few
digits only, and rounding is about 1e-16 / h of the slope, 1e-4 for h = 1e-12, where 1e-10 could be
had. Take h around 1e-5."""

STEP = 1e-12

# %% step-too-small / one-sided
def slope(forward, grad_y, x, place):
    up = x.copy()
    up[place] += 1e-12
    return (np.sum(grad_y * forward(up)) - np.sum(grad_y * forward(x))) / 1e-12

# %% single-precision
# killed_by: accepts
"""Your check rejects every right gradient, and forward was called in float32 only. There a value
has seven digits, and the difference of two values that are a small step apart has lost most of
them. Keep x in float64."""

def slope(forward, grad_y, x, place):
    x = x.astype(np.float32)
    up, down = x.copy(), x.copy()
    up[place] += np.float32(STEP)
    down[place] -= np.float32(STEP)
    return (np.sum(grad_y * forward(up)) - np.sum(grad_y * forward(down))) / (2 * STEP)

def gradient_is_right(forward, backward, x, rng):
    x = off_the_kinks(x)
    grad_y = draw_grad_y(rng, forward(x.astype(np.float32)).shape)
    grad_x, untouched = call_backward(backward, grad_y, x)
    return bool(untouched) and bool(agree(grad_x, slopes(forward, grad_y, x)))

# %% same-array
# killed_by: accepts
"""Your check rejects every right gradient, straight layers included, and moved elements up, never
down. It measures half the slope: usually x + h and x - h are two names of one array, so that taking
h away leads back to x, and a difference over one h is divided by 2 h. Make a copy for each."""

def slope(forward, grad_y, x, place):
    up = down = x.copy()
    up[place] += STEP
    above = np.sum(grad_y * forward(up))
    down[place] -= STEP
    below = np.sum(grad_y * forward(down))
    return (above - below) / (2 * STEP)

# %% compares-norms
# killed_by: rejects
"""Your check accepts a gradient with the wrong sign, and one with its rows exchanged. Both have the
right norm. Compare elements: the largest difference with the largest element."""

def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    own, right = np.linalg.norm(grad_x), np.linalg.norm(measured)
    return abs(own - right) <= TOLERANCE * right

# %% compares-directions
# killed_by: rejects
"""Your check accepts gradients that are right but for a factor. Cosine similarity looks at
directions, and does not see a mean in the place of a sum. Compare elements: the largest difference
with the largest element."""

def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    own, right = np.linalg.norm(grad_x), np.linalg.norm(measured)
    if right == 0:
        return own == 0
    return np.sum(grad_x * measured) >= 0.999999 * own * right and own > 0

# %% one-fixed-direction
# killed_by: rejects
"""Your check accepts gradients with the right sum over all elements: one whose rows are exchanged,
and one of 0 for a softmax, which does not change when all of x moves by the same amount. All
elements were moved together by one amount. Move them one by one, or along several random
directions."""

def slopes(forward, grad_y, x):
    above = np.sum(grad_y * forward(x + STEP))
    below = np.sum(grad_y * forward(x - STEP))
    return (above - below) / (2 * STEP)

def agree(grad_x, measured):
    return np.allclose(np.sum(grad_x), measured, rtol=1e-5, atol=1e-8)

# %% not-halved
# killed_by: accepts
"""Your check rejects every right gradient, and measured twice the slope: x was moved up and down by
h, so that the points are 2 h apart. Divide by that."""

right_slope = slope

def slope(forward, grad_y, x, place):
    return 2 * right_slope(forward, grad_y, x, place)

# %% inverted
# killed_by: accepts
"""Your function says the opposite: it rejects every right gradient and accepts wrong ones. Usually
it returns whether an error was found."""

right_check = gradient_is_right

def gradient_is_right(forward, backward, x, rng):
    return not right_check(forward, backward, x, rng)

# %% no-verdict
# killed_by: accepts
"""What your function returns is no bool, so that it is no verdict. Compare the error with a
tolerance, and return the comparison in every case."""

def gradient_is_right(forward, backward, x, rng):
    x = off_the_kinks(x)
    grad_y = draw_grad_y(rng, forward(x).shape)
    measured = slopes(forward, grad_y, x)
    return np.abs(call_backward(backward, grad_y, x)[0] - measured).max()

# %% no-verdict / int
right_check = gradient_is_right

def gradient_is_right(forward, backward, x, rng):
    return int(right_check(forward, backward, x, rng))

# %% no-verdict / none
right_check = gradient_is_right

def gradient_is_right(forward, backward, x, rng):
    if not right_check(forward, backward, x, rng):
        return False

# %% compares-magnitudes
# killed_by: accepts
"""Your check accepts a gradient whose sign is wrong in every element. Magnitudes were compared;
take the difference first, and its absolute value then."""

right_agree = agree

def agree(grad_x, measured):
    return right_agree(np.abs(grad_x), np.abs(measured))

# %% compares-sums
# killed_by: rejects
"""Your check accepts a gradient whose rows are exchanged, and rejects other wrong ones. Its columns
have the right sums. Compare element by element."""

right_agree = agree

def agree(grad_x, measured):
    return right_agree(grad_x.sum(axis=0), measured.sum(axis=0))

# %% first-row-only
# killed_by: rejects
"""Your check accepts a gradient that is wrong in its last element alone. Usually one row or one
element of x was not moved, or not compared. Go through all of them."""

right_agree = agree

def agree(grad_x, measured):
    return right_agree(grad_x[:1], measured[:1])

# %% zero-is-always-right
# killed_by: rejects
"""Your check accepts a gradient of 0 throughout for a layer whose y depends on x. Whether 0 is
right is what the measured slopes say."""

right_agree = agree

def agree(grad_x, measured):
    return not grad_x.any() or right_agree(grad_x, measured)

# %% always-yes
# killed_by: rejects
"""Your function accepts every gradient and never calls forward. It has nothing to compare with."""

def gradient_is_right(forward, backward, x, rng):
    return True

# %% always-no
# killed_by: accepts
"""Your function rejects every gradient and never calls forward. A check that always cries wolf is
switched off."""

def gradient_is_right(forward, backward, x, rng):
    return False

# %% relative-to-each-entry
# killed_by: zeros
"""Your check rejects right gradients that have elements of 0: the error there is 0, and relative to
that element it is 0/0, which is NaN and below no tolerance. Measure the error relative to the
largest element of the array."""

def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    return (np.abs(grad_x - measured) / np.abs(measured)).max() <= TOLERANCE

# %% relative-to-each-entry / of-both
def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    size = np.abs(grad_x) + np.abs(measured)
    return bool(np.all(np.abs(grad_x - measured) / size <= TOLERANCE))

# %% rejects-zero
# killed_by: zeros
"""Your check rejects the gradient of a layer that is switched off: it is 0 throughout, as y is. The
error is 0 as well, and is neither below a tolerance of 0 nor a number when divided by the largest
element. Ask for error <= tolerance * largest."""

def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    return np.abs(grad_x - measured).max() < TOLERANCE * np.abs(measured).max()

# %% rejects-zero / zero-over-zero
def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    return (np.abs(grad_x - measured) / np.abs(measured).max()).max() <= TOLERANCE

# %% absolute-tolerance
# killed_by: magnitudes
"""Your check rejects a right gradient around 1e9 and accepts 0 in the place of 1e-9. The tolerance
is a fixed number. What rounding leaves grows with the values, so let the tolerance grow with the
largest element."""

def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    return np.abs(grad_x - measured).max() <= TOLERANCE

# %% floor-of-allclose
# killed_by: magnitudes
"""Your check accepts 0 in the place of gradients around 1e-9. Usually that is np.allclose, which
adds atol=1e-8 to the relative tolerance unless it is given another. Set atol to a share of the
largest element."""

def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    return np.allclose(grad_x, measured)

# %% at-the-kink
# killed_by: kinks
"""Your check rejects the right gradient of a leaky ReLU. x holds zeros, and across the kink a
central difference measures the mean of both slopes, 5/8, where the layer says 1/4. Move x off 0, or
leave such elements out."""

def off_the_kinks(x):
    return x

# %% trusts-the-backward
# killed_by: arguments
"""Your check accepts a backward that changes its arguments, x as well as grad_y. The gradient that
it returns is right, and the next user of the array gets other numbers. Compare both with copies
after the call."""

def call_backward(backward, grad_y, x):
    return backward(grad_y.copy(), x.copy()), True

# %% watches-x-only
# killed_by: arguments
"""Your check notices a backward that changes x, and accepts one that changes grad_y. In a network
grad_y may be another branch's gradient too. Compare both with copies after the call."""

def call_backward(backward, grad_y, x):
    given = x.copy()
    return backward(grad_y.copy(), given), (given == x).all()

# %% nan-slips-through
# killed_by: malformed
"""Your check accepts a gradient with NaN in it. NaN is neither above nor below anything, so "no
error is above the tolerance" holds. Ask whether all errors are within the tolerance."""

def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    return not (np.abs(grad_x - measured) > TOLERANCE * np.abs(measured).max()).any()

# %% broadcasts
# killed_by: malformed
"""Your check accepts a grad_x of shape (3, 1) for an x of shape (3, 4). The subtraction repeats its
only column without a word. Compare the shapes first."""

def agree(grad_x, measured):
    return np.abs(grad_x - measured).max() <= TOLERANCE * np.abs(measured).max()

# %% keeps-the-buffer
# killed_by: buffer
"""Your check rejects the right gradient of a layer that writes every y to the same memory. It holds
on to the first y while it calls forward again; both are then one array, and their difference is 0.
Reduce y to a number, or copy it, before the next call."""

def slope(forward, grad_y, x, place):
    up, down = x.copy(), x.copy()
    up[place] += STEP
    down[place] -= STEP
    above, below = forward(up), forward(down)
    return np.sum(grad_y * (above - below)) / (2 * STEP)

# %% a-call-per-pair
# killed_by: calls
"""Your check is right and calls forward more than 200 times. Usually that is two calls for every
pair of an element of x and an element of y. One call gives all of y, so two calls for each element
of x will do."""

def slope(forward, grad_y, x, place):
    up, down = x.copy(), x.copy()
    up[place] += STEP
    down[place] -= STEP
    total = 0.0
    for out in np.ndindex(grad_y.shape):
        above = forward(up)[out]
        below = forward(down)[out]
        total += grad_y[out] * (above - below) / (2 * STEP)
    return total
