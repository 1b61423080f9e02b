# %% no-scale
# killed_by: forward
"""Your scores are the dot products of queries and keys, undivided. The contract divides them by
sqrt(d), because a dot product of d independent numbers of spread 1 has a spread of sqrt(d)."""

def _scale(q):
    return 1.0

# %% scale-by-d
# killed_by: forward
"""Your scores are the dot products divided by d. The contract divides by its square root; divided
by d they are too small, and the weights too even."""

def _scale(q):
    return 1.0 / q.shape[2]

# %% softmax-over-queries
# killed_by: forward
"""Your softmax runs over the queries: the weights that all queries give to one key sum to 1. Each
query distributes a total of 1 over its keys, so the softmax runs over the last axis."""

def _normalizer(scores):
    top = scores.max(axis=1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    total = np.exp(scores - top).sum(axis=1, keepdims=True)
    return top, np.where(total > 0, total, 1)

def _softmax_backward(weights, grad_weights, grad_o, o):
    return weights * (grad_weights - (weights * grad_weights).sum(axis=1, keepdims=True))

# %% row-dot-dropped
# killed_by: [dq, dk, keys-sum, differences]
"""Your gradient of the scores is the weights times the gradients that arrive at them. That is the
derivative of the exponential without that of what it is divided by: all weights of a query share
one normalizer, so raising one score lowers the other weights. Before you multiply by the weights,
subtract the mean of the arriving gradients under the weights of that query, the sum of weight times
gradient over the keys."""

def _softmax_backward(weights, grad_weights, grad_o, o):
    return weights * grad_weights

# %% diagonal
# killed_by: [dq, dk, keys-sum, differences]
"""Your gradient of the scores uses w (1 - w) for each weight w, the diagonal of the softmax's
Jacobian, as if each weight depended on its own score only. Off the diagonal stand -w_i w_j.
Multiplied out, the whole Jacobian costs one dot product per query, w * (a - the sum of w * a), with
a the gradients that arrive at the weights."""

def _softmax_backward(weights, grad_weights, grad_o, o):
    return weights * (1 - weights) * grad_weights

# %% dot-over-queries
# killed_by: [dq, dk, keys-sum, differences]
"""The dot product of weights and arriving gradients runs over the queries. The softmax was taken
for each query over its keys, so its backward pass works query by query too: sum over the last axis,
and keep it."""

def _softmax_backward(weights, grad_weights, grad_o, o):
    return weights * (grad_weights - (weights * grad_weights).sum(axis=1, keepdims=True))

# %% row-mean
# killed_by: [dq, dk, keys-sum, differences]
"""From the gradients that arrive at the weights, their plain mean over the keys is taken off. That
is right only where all weights are equal. Take the mean under the weights of the query, the sum of
weight times gradient."""

def _softmax_backward(weights, grad_weights, grad_o, o):
    return weights * (grad_weights - grad_weights.mean(axis=2, keepdims=True))

# %% row-mean / of-the-seen
def _softmax_backward(weights, grad_weights, grad_o, o):
    seen = weights > 0
    count = np.maximum(seen.sum(axis=2, keepdims=True), 1).astype(weights.dtype)
    return weights * (grad_weights - (grad_weights * seen).sum(axis=2, keepdims=True) / count)

# %% dot-over-everything
# killed_by: [dq, dk, keys-sum, differences]
"""One dot product of weights and arriving gradients is taken for all queries of a head. Each query
has a softmax of its own: sum over the last axis, and keep it."""

def _softmax_backward(weights, grad_weights, grad_o, o):
    return weights * (grad_weights - (grad_o * o).sum(axis=(1, 2), keepdims=True))

# %% dot-added
# killed_by: [dq, dk, keys-sum, differences]
"""The dot product of weights and arriving gradients is added. More weight for one key is less for
the others: it is subtracted, weight * (gradient - dot)."""

def _softmax_backward(weights, grad_weights, grad_o, o):
    return weights * (grad_weights + (grad_o * o).sum(axis=2, keepdims=True))

# %% log-softmax-backward
# killed_by: [dq, dk, differences]
"""Your gradient of the scores is a - w sum(a), with a what arrives at the weights w: the backward
of a log-softmax. The softmax has w * (a - sum of w * a). The sum over the keys is 0 for both, so it
does not tell them apart."""

def _softmax_backward(weights, grad_weights, grad_o, o):
    return grad_weights - weights * grad_weights.sum(axis=2, keepdims=True)

# %% dot-outside
# killed_by: [dq, dk, keys-sum, differences]
"""The dot product is subtracted after the multiplication by the weights, so it arrives at every key
in full. It belongs inside the bracket, weight * (gradient - dot). A quick check: for each query the
gradients of its scores sum to 0."""

def _softmax_backward(weights, grad_weights, grad_o, o):
    return weights * grad_weights - (weights * grad_weights).sum(axis=2, keepdims=True)

# %% scale-forgotten
# killed_by: [dq, dk, differences]
"""The gradients of q and k lack the factor 1 / sqrt(d). The scores were divided by sqrt(d) in the
forward pass, and the chain rule divides once more on the way back, for q and for k. That is a
factor of sqrt(d) too much."""

def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    weights = _weights(_scores(q, k, causal), top, total)
    grad_scores = _softmax_backward(weights, grad_o @ v.swapaxes(1, 2), grad_o, o)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v

# %% scale-twice
# killed_by: [dq, dk, differences]
"""The gradients of q and k have the factor 1 / sqrt(d) twice. Put the scale in one place, at the
gradient of the scores or at both products."""

_scaled_once = attention_backward

def attention_backward(grad_o, ctx):
    q = ctx[0]
    grad_q, grad_k, grad_v = _scaled_once(grad_o, ctx)
    return grad_q * _scale(q), grad_k * _scale(q), grad_v

# %% scale-in-dq-only
# killed_by: [dk, differences]
"""The gradient of k lacks the factor 1 / sqrt(d), and that of q has it. The scale belongs to the
score, which both of them enter, so both carry it."""

_scaled = attention_backward

def attention_backward(grad_o, ctx):
    q = ctx[0]
    grad_q, grad_k, grad_v = _scaled(grad_o, ctx)
    return grad_q, grad_k / _scale(q), grad_v

# %% dv-untransposed
# killed_by: dv
"""For the gradient of v, grad_o is multiplied by the weights as they stand. Value s receives from
every query t by the weight [t, s], so it is the queries that are summed over: the weights
transposed, times grad_o. Where queries and keys differ in number your product raises a ValueError.
"""

_transposed = attention_backward

def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    grad_q, grad_k, _ = _transposed(grad_o, ctx)
    return grad_q, grad_k, _weights(_scores(q, k, causal), top, total) @ grad_o

# %% dk-untransposed
# killed_by: dk
"""For the gradient of k, q is multiplied by the gradient of the scores as it stands. Key s receives
from every query, so it is the queries that are summed over: transpose first. Where queries and keys
differ in number your product raises a ValueError."""

_transposed = attention_backward

def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    weights = _weights(_scores(q, k, causal), top, total)
    grad_scores = _scale(q) * _softmax_backward(weights, grad_o @ v.swapaxes(1, 2), grad_o, o)
    grad_q, _, grad_v = _transposed(grad_o, ctx)
    return grad_q, grad_scores @ q, grad_v

# %% rebuilt-unscaled
# killed_by: dv
"""Your backward pass computes the weights anew from scores that are not divided by sqrt(d), so they
are not those of the forward pass, and every gradient suffers. Rebuild the scores with their scale.
"""

def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    scores = _scores(q, k, causal) / _scale(q)
    weights = _weights(scores, *_normalizer(scores))
    grad_weights = grad_o @ v.swapaxes(1, 2)
    dot = (weights * grad_weights).sum(axis=2, keepdims=True)
    grad_scores = weights * (grad_weights - dot) * _scale(q)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v

# %% rebuilt-unscaled / kept
def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    weights = _weights(_scores(q, k, causal) / _scale(q), top, total)
    grad_scores = _scale(q) * _softmax_backward(weights, grad_o @ v.swapaxes(1, 2), grad_o, o)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v

# %% mask-top-left
# killed_by: causal
"""With causal, query t sees the keys 0 to t, whatever the two lengths are. The contract lets the
last query stand at the last key: t sees key s when s <= t + S - T. With as many keys as queries the
two are the same. Usually this is tril of a matrix of ones, which wants the diagonal S - T, or what
is_causal does in PyTorch."""

def _seen(queries, keys):
    return np.tril(np.ones((queries, keys), bool))

# %% mask-transposed
# killed_by: causal
"""With causal, a query sees the key at which it stands and those that follow. Rows are queries and
columns keys: query t sees s <= t + S - T."""

def _seen(queries, keys):
    return np.arange(keys) >= np.arange(queries)[:, None] + keys - queries

# %% own-key-hidden
# killed_by: causal
"""With causal, a query of yours does not see the key at which it stands: your mask is strict, s < t
+ S - T. Its own key belongs to what it sees. In the first row of a square nothing is left to see.
"""

def _seen(queries, keys):
    return np.arange(keys) < np.arange(queries)[:, None] + keys - queries

# %% mask-by-zero
# killed_by: causal
"""Hidden keys have a score of 0, which is a score like any other: exp(0) = 1 is in the normalizer,
and they keep a weight. Their score is minus infinity."""

def _scores(q, k, causal):
    scores = q @ k.swapaxes(1, 2) * _scale(q)
    if causal:
        scores = scores * _seen(q.shape[1], k.shape[1])
    return scores

# %% mask-only-when-square
# killed_by: causal
"""Where queries and keys differ in number you hide nothing. Query t sees key s when s <= t + S - T;
only where T is 1 does that hide no key."""

_right = _seen

def _seen(queries, keys):
    return _right(queries, keys) | (queries != keys)

# %% mask-after-softmax
# killed_by: causal
"""Hidden keys lose their weight after the division, so they have had their share of the normalizer:
the weights that are left sum to less than 1. Hide the scores, before the softmax."""

def _scores(q, k, causal):
    return q @ k.swapaxes(1, 2) * _scale(q)

def attention_forward(q, k, v, causal=False):
    scores = _scores(q, k, causal)
    top, total = _normalizer(scores)
    weights = _weights(scores, top, total)
    if causal:
        weights = weights * _seen(q.shape[1], k.shape[1])
    o = weights @ v
    return o, (q, k, v, o, top, total, causal)

def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    weights = _weights(_scores(q, k, causal), top, total)
    seen = _seen(q.shape[1], k.shape[1]) if causal else np.ones(weights.shape[1:], bool)
    grad_weights = grad_o @ v.swapaxes(1, 2) * seen
    grad_scores = _scale(q) * _softmax_backward(weights, grad_weights, grad_o, o)
    grad_v = (weights * seen).swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v

# %% mask-forgotten
# killed_by: causal
"""Your backward pass gives weights to keys that the forward pass hid. Those weights may exceed 1,
and a row of them no longer sums to 1. Where scores are computed anew, hide the same keys again."""

_hiding = attention_backward

def attention_backward(grad_o, ctx):
    return _hiding(grad_o, (*ctx[:-1], False))

# %% no-max-shift
# killed_by: [lifted, steep]
"""The exponentials are taken of the scores as they are, and exp overflows at 710 (in float32 at
89): infinity divided by infinity is NaN. The softmax does not change when one number is taken off
all scores of a query; take off the largest."""

def _normalizer(scores):
    total = np.exp(scores).sum(axis=2, keepdims=True)
    return np.zeros_like(total), np.where(total > 0, total, 1)

# %% max-over-too-much
# killed_by: steep
"""What is taken off the scores of a query can be larger than every score that it sees, by
thousands: all its exponentials are then 0, and 0 divided by 0 is NaN. Take the maximum for each
query, over the keys that it sees."""

def attention_forward(q, k, v, causal=False):
    scores = _scores(q, k, causal)
    top = _scores(q, k, False).max(axis=2, keepdims=True)
    total = np.exp(scores - top).sum(axis=2, keepdims=True)
    total = np.where(np.isfinite(scores).any(axis=2, keepdims=True), total, 1)
    o = _weights(scores, top, total) @ v
    return o, (q, k, v, o, top, total, causal)

# %% max-over-too-much / max-over-everything
def _normalizer(scores):
    top = scores.max()
    total = np.exp(scores - top).sum(axis=2, keepdims=True)
    seen = np.isfinite(scores).any(axis=2, keepdims=True)
    return np.full_like(total, top), np.where(seen, total, 1)

# %% empty-rows-nan
# killed_by: nobody
"""A query that sees no key gives NaN: its largest score is minus infinity, and minus infinity less
itself is NaN, as 0 divided by 0 is. In the backward pass one such query makes the gradient of every
key NaN, since keys sum over the queries. Guard the maximum and the divisor."""

def _normalizer(scores):
    top = scores.max(axis=2, keepdims=True)
    return top, np.exp(scores - top).sum(axis=2, keepdims=True)

# %% empty-rows-nan / empty-rows-divide
def _normalizer(scores):
    top = scores.max(axis=2, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    return top, np.exp(scores - top).sum(axis=2, keepdims=True)

# %% finite-fill
# killed_by: nobody
"""A query that sees no key attends to hidden ones: their scores are finite negative numbers, and
where there are no others a softmax gives them weights that sum to 1 all the same. Only minus
infinity, with a guard for such queries, gives weights of 0."""

def _scores(q, k, causal):
    scores = q @ k.swapaxes(1, 2) * _scale(q)
    if causal:
        scores = np.where(_seen(q.shape[1], k.shape[1]), scores, -1e9)
    return scores

# %% finite-fill / added
def _scores(q, k, causal):
    scores = q @ k.swapaxes(1, 2) * _scale(q)
    if causal:
        scores = scores + np.where(_seen(q.shape[1], k.shape[1]), 0, -1e9).astype(q.dtype)
    return scores

# %% float64-returned
# killed_by: single
"""With float32 arrays a result comes back as float64. The contract asks for the dtype of the
inputs. Usually a scale such as 1 / np.sqrt(d), which is a float64 of numpy's, or a mask of np.ones
has met the scores. A Python float, or q.dtype.type(...), leaves float32 alone."""

_in_one_dtype = _scores

def _scores(q, k, causal):
    return _in_one_dtype(q, k, causal).astype(np.float64)

# %% float64-returned / masked
_in_one_dtype = _scores

def _scores(q, k, causal):
    scores = _in_one_dtype(q, k, causal)
    return scores.astype(np.float64) if causal else scores

# %% float64-returned / gradients
_kept = attention_backward

def attention_backward(grad_o, ctx):
    grad_q, grad_k, grad_v = _kept(grad_o, ctx)
    return grad_q.astype(np.float64), grad_k.astype(np.float64), grad_v

# %% ctx-in-a-global
# killed_by: again
"""Your backward uses what the latest forward pass left, whichever ctx it is given. As soon as two
layers are in flight, one of them gets the gradients of the other. Usually this is a global, or an
attribute of a function. Put all that backward needs into ctx."""

_latest = []

def attention_forward(q, k, v, causal=False):
    scores = _scores(q, k, causal)
    weights = _weights(scores, *_normalizer(scores))
    _latest[:] = [q, k, v, weights]
    return weights @ v, None

def attention_backward(grad_o, ctx):
    q, k, v, weights = _latest
    grad_weights = grad_o @ v.swapaxes(1, 2)
    dot = (weights * grad_weights).sum(axis=2, keepdims=True)
    grad_scores = weights * (grad_weights - dot) * _scale(q)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v

# %% ctx-used-up
# killed_by: again
"""A second backward pass with the same ctx takes its dot product with an output that the first has
multiplied by grad_o. Usually this is an operation in place, such as o *= grad_o. Make a new array.
"""

_forward = attention_forward

def attention_forward(q, k, v, causal=False):
    o, (q, k, v, kept, top, total, causal) = _forward(q, k, v, causal)
    return o, (q, k, v, kept.copy(), top, total, causal)

def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    weights = _weights(_scores(q, k, causal), top, total)
    grad_weights = grad_o @ v.swapaxes(1, 2)
    o *= grad_o
    grad_scores = weights * (grad_weights - o.sum(axis=2, keepdims=True)) * _scale(q)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v

# %% scales-in-place
# killed_by: forward
"""Your forward pass changes the caller's q. Whoever uses it again, for another head or a second
call, gets other numbers. Usually this is q *= scale; write q * scale, a new array."""

def attention_forward(q, k, v, causal=False):
    scale = _scale(q)
    q *= scale
    scores = q @ k.swapaxes(1, 2)
    if causal:
        scores = np.where(_seen(q.shape[1], k.shape[1]), scores, -np.inf)
    top, total = _normalizer(scores)
    o = _weights(scores, top, total) @ v
    return o, (q, k, v, o, top, total, causal)

def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    scores = q @ k.swapaxes(1, 2)
    if causal:
        scores = np.where(_seen(q.shape[1], k.shape[1]), scores, -np.inf)
    weights = _weights(scores, top, total)
    grad_scores = _softmax_backward(weights, grad_o @ v.swapaxes(1, 2), grad_o, o)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k * _scale(q), grad_scores.swapaxes(1, 2) @ q, grad_v
