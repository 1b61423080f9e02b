# %% no-rescale
# killed_by: forward
"""Your sum and your output add up exponentials that are measured from different maxima: each from
the largest score known when its block came. When a larger one arrives, what has been added up so
far is too large by exp(new - old). Multiply both by exp(old - new) before you add the new block."""

def _add(state, scores, values):
    top, total, o = state
    new = np.maximum(top, scores.max(axis=1))
    weights = np.exp(scores - _floor(new)[:, None])
    return new, total + weights.sum(axis=1), o + weights @ values

# %% block-maximum
# killed_by: forward
"""Each block's exponentials are measured from that block's own maximum, and then added up as they
are. They have different units: a term of one block is not comparable with a term of another. Keep
one maximum for each query, the largest so far, and multiply sum and output by exp(old - new) when
it grows."""

def _add(state, scores, values):
    top, total, o = state
    own = scores.max(axis=1)
    weights = np.exp(scores - _floor(own)[:, None])
    return np.maximum(top, own), total + weights.sum(axis=1), o + weights @ values

# %% block-maximum / last
def _add(state, scores, values):
    top, total, o = state
    own = scores.max(axis=1)
    weights = np.exp(scores - _floor(own)[:, None])
    return own, total + weights.sum(axis=1), o + weights @ values

# %% sum-only-rescaled
# killed_by: forward
"""Your sum follows the maximum and your output does not: values of early blocks keep the weights
that they had before a larger score came. Both were measured from the old maximum, so both are
multiplied by exp(old - new)."""

def _add(state, scores, values):
    top, total, o = state
    new = np.maximum(top, scores.max(axis=1))
    shrink = np.exp(top - _floor(new))
    weights = np.exp(scores - _floor(new)[:, None])
    return new, shrink * total + weights.sum(axis=1), o + weights @ values

# %% output-only-rescaled
# killed_by: forward
"""Your output follows the maximum and your sum does not: what it is divided by is too large. Both
were measured from the old maximum, so both are multiplied by exp(old - new)."""

def _add(state, scores, values):
    top, total, o = state
    new = np.maximum(top, scores.max(axis=1))
    shrink = np.exp(top - _floor(new))
    weights = np.exp(scores - _floor(new)[:, None])
    return new, total + weights.sum(axis=1), shrink[:, None] * o + weights @ values

# %% rescales-upside-down
# killed_by: forward
"""Sum and output are multiplied by exp(new - old), which is above 1. Terms become smaller when the
maximum from which they are measured grows: the factor is exp(old - new)."""

def _add(state, scores, values):
    top, total, o = state
    new = np.maximum(top, scores.max(axis=1))
    grow = np.exp(new - np.where(np.isinf(top), new, top))
    weights = np.exp(scores - _floor(new)[:, None])
    return new, grow * total + weights.sum(axis=1), grow[:, None] * o + weights @ values

# %% shrinks-the-new-block
# killed_by: forward
"""The new block is multiplied by exp(old - new) as well, although it is measured from the new
maximum already. Shrink what you have first, then add."""

def _add(state, scores, values):
    top, total, o = state
    new = np.maximum(top, scores.max(axis=1))
    shrink = np.where(np.isinf(top), 1, np.exp(top - _floor(new)))
    weights = np.exp(scores - _floor(new)[:, None])
    return new, shrink * (total + weights.sum(axis=1)), shrink[:, None] * (o + weights @ values)

# %% wrong-scale
# killed_by: forward
"""Your scores are the dot products divided by something else than sqrt(d): by d, or by nothing.
With d = 1 nobody sees it."""

def _root(q):
    return float(q.shape[1])

# %% wrong-scale / scale-forgotten
def _root(q):
    return 1.0

# %% mean-of-blocks
# killed_by: forward
"""Your output is the plain mean of the blocks' own outputs. A block with larger scores has a larger
share: its output weighs as much as the sum of its exponentials."""

def attend(q, k, v, block, mask=None):
    parts = []
    for keys in _blocks(len(k), block):
        scores = _scores(q, k, mask, keys)
        top = _floor(scores.max(axis=1))
        weights = np.exp(scores - top[:, None])
        parts.append(_finish(top, weights.sum(axis=1), weights @ v[keys]))
    return np.mean([o for o, _ in parts], axis=0), np.logaddexp.reduce([lse for _, lse in parts], axis=0)

# %% mean-of-blocks / and-lse
def attend(q, k, v, block, mask=None):
    parts = []
    for keys in _blocks(len(k), block):
        scores = _scores(q, k, mask, keys)
        top = _floor(scores.max(axis=1))
        weights = np.exp(scores - top[:, None])
        parts.append(_finish(top, weights.sum(axis=1), weights @ v[keys]))
    return np.mean([o for o, _ in parts], axis=0), np.mean([lse for _, lse in parts], axis=0)

# %% lse-without-maximum
# killed_by: forward
"""Your lse is the logarithm of the sum of exp(s - maximum). Add the maximum again; otherwise lse
says nothing about how large the scores were, and nobody can compare two of them."""

def _finish(top, total, o):
    total = np.where(total > 0, total, 1)
    return o / total[:, None], np.where(np.isinf(top), top, np.log(total))

# %% no-maximum
# killed_by: far
"""The exponentials are taken of the scores as they are. Around 2,000 they are infinite, and around
-2,000 they are 0, so that nothing is left to divide by. Take each query's largest score so far off
first."""

def _add(state, scores, values):
    top, total, o = state
    weights = np.exp(scores)
    return np.zeros_like(top), total + weights.sum(axis=1), o + weights @ values

def _finish(top, total, o):
    return o / total[:, None], top + np.log(total)

# %% no-maximum / guarded
def _add(state, scores, values):
    top, total, o = state
    weights = np.exp(scores)
    return np.zeros_like(top), total + weights.sum(axis=1), o + weights @ values

# %% one-maximum-for-all
# killed_by: far
"""One maximum, that of all queries, is taken off every query's scores. A query whose scores lie
thousands below it has nothing but exponentials of 0. Take scores.max(axis=1), one number for each
query."""

def _add(state, scores, values):
    top, total, o = state
    new = np.full_like(top, max(top.max(), scores.max()))
    shrink, weights = np.exp(top - _floor(new)), np.exp(scores - _floor(new)[:, None])
    return new, shrink * total + weights.sum(axis=1), shrink[:, None] * o + weights @ values

def _finish(top, total, o):
    return o / total[:, None], top + np.log(total)

# %% maximum-from-zero
# killed_by: far
"""What is taken off the scores is never below 0. Where all scores of a query are around -2,000, all
its exponentials are 0. Usually the running maximum begins at 0; begin with minus infinity."""

def _add(state, scores, values):
    top, total, o = state
    top = np.maximum(top, 0)
    new = np.maximum(top, scores.max(axis=1))
    shrink, weights = np.exp(top - new), np.exp(scores - new[:, None])
    return new, shrink * total + weights.sum(axis=1), shrink[:, None] * o + weights @ values

def _finish(top, total, o):
    return o / total[:, None], top + np.log(total)

# %% maximum-from-zero / guarded
def _add(state, scores, values):
    top, total, o = state
    top = np.maximum(top, 0)
    new = np.maximum(top, scores.max(axis=1))
    shrink, weights = np.exp(top - new), np.exp(scores - new[:, None])
    return new, shrink * total + weights.sum(axis=1), shrink[:, None] * o + weights @ values

# %% last-block-lost
# killed_by: ragged
"""Keys after the last full block are never read, and with fewer keys than a block none is. Slicing
past the end is no error in numpy: step from 0 to S, and the last slice is shorter by itself."""

def _blocks(count, block):
    for start in range(0, count - block + 1, block):
        yield slice(start, start + block)

# %% last-block-lost / unguarded
def _blocks(count, block):
    for start in range(0, count - block + 1, block):
        yield slice(start, start + block)

def _finish(top, total, o):
    return o / total[:, None], top + np.log(total)

# %% last-block-padded
# killed_by: ragged
"""The last block is filled up with keys of zeros, and these are counted: a score of 0 adds exp(0) =
1 to the sum. Use a shorter block, or hide the padding."""

def attend(q, k, v, block, mask=None):
    state = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for keys in _blocks(len(k), block):
        scores, values = _scores(q, k, mask, keys), v[keys]
        missing = block - len(values)
        scores = np.pad(scores, ((0, 0), (0, missing)))
        state = _add(state, scores, np.pad(values, ((0, missing), (0, 0))))
    return _finish(*state)

# %% width-of-keys
# killed_by: widths
"""Your output is made in the shape of q, or its last axis is taken from q or k, so values of
another width raise a ValueError. The output has one row per query and the width of v."""

def attend(q, k, v, block, mask=None):
    state = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros_like(q)
    for keys in _blocks(len(k), block):
        state = _add(state, _scores(q, k, mask, keys), v[keys])
    return _finish(*state)

# %% masked-block-nan
# killed_by: masked
"""Where the first block is hidden from a query, its results are NaN: its maximum is still minus
infinity, and minus infinity less itself is NaN, which stays. Where the maximum is minus infinity,
take off 0."""

def _floor(top):
    return top

# %% masked-block-nan / unguarded
def _floor(top):
    return top

def _finish(top, total, o):
    return o / total[:, None], top + np.log(total)

# %% mask-by-zero
# killed_by: masked
"""Hidden keys have a score of 0, which is a score like any other: exp(0) = 1 is added to the sum.
The score of a hidden key is minus infinity."""

def _scores(q, k, mask, keys):
    scores = q @ k[keys].T / _root(q)
    return scores if mask is None else scores * mask[:, keys]

# %% mask-inverted
# killed_by: masked
"""Each query looks at exactly the keys that the mask hides. True means that it may look. (The
key_padding_mask of PyTorch's MultiheadAttention has it the other way round.)"""

def _scores(q, k, mask, keys):
    scores = q @ k[keys].T / _root(q)
    return scores if mask is None else np.where(mask[:, keys], -np.inf, scores)

# %% mask-of-the-first-block
# killed_by: masked
"""Every block is masked with the first columns of the mask. Cut the mask as you cut the keys:
mask[:, start : start + block]."""

_right = _scores

def _scores(q, k, mask, keys):
    scores = _right(q, k, None, keys)
    return scores if mask is None else np.where(mask[:, : scores.shape[1]], scores, -np.inf)

# %% max-over-hidden
# killed_by: masked
"""Your maximum runs over hidden keys too. Where one of them is above all others by 2,000, the
exponentials of all that are left are 0. Hide the keys before you take the maximum."""

def attend(q, k, v, block, mask=None):
    top, total = np.full(len(q), -np.inf), np.zeros(len(q))
    o = np.zeros((len(q), v.shape[1]))
    for keys in _blocks(len(k), block):
        scores = _scores(q, k, None, keys)
        new = np.maximum(top, scores.max(axis=1))
        shrink, weights = np.exp(top - new), np.exp(scores - new[:, None])
        if mask is not None:
            weights = np.where(mask[:, keys], weights, 0)
        total = shrink * total + weights.sum(axis=1)
        o = shrink[:, None] * o + weights @ v[keys]
        top = new
    return _finish(top, total, o)

# %% max-over-hidden / unguarded
def attend(q, k, v, block, mask=None):
    top, total = np.full(len(q), -np.inf), np.zeros(len(q))
    o = np.zeros((len(q), v.shape[1]))
    for keys in _blocks(len(k), block):
        scores = _scores(q, k, None, keys)
        new = np.maximum(top, scores.max(axis=1))
        shrink, weights = np.exp(top - new), np.exp(scores - new[:, None])
        if mask is not None:
            weights = np.where(mask[:, keys], weights, 0)
        total = shrink * total + weights.sum(axis=1)
        o = shrink[:, None] * o + weights @ v[keys]
        top = new
    return (o / total[:, None], top + np.log(total))

# %% max-over-hidden / dead
def attend(q, k, v, block, mask=None):
    top, total = np.full(len(q), -np.inf), np.zeros(len(q))
    o = np.zeros((len(q), v.shape[1]))
    for keys in _blocks(len(k), block):
        scores = _scores(q, k, None, keys)
        new = np.maximum(top, scores.max(axis=1))
        shrink, weights = np.exp(top - new), np.exp(scores - new[:, None])
        if mask is not None:
            weights = np.where(mask[:, keys], weights, 0)
        total = shrink * total + weights.sum(axis=1)
        o = shrink[:, None] * o + weights @ v[keys]
        top = new
    return (o / np.where(total > 0, total, 1)[:, None], top + np.log(total))

# %% finite-fill
# killed_by: dead
# parameters: {FILL: [-10000.0, -1000000.0, -1000000000.0, -1e+30, -1.7976931348623157e+308]}
"""A query that may look at no key attends to hidden ones: they have a large negative score, and
where there is no other key a softmax still gives them weights that sum to 1. The score of a hidden
key is minus infinity, with a guard for queries that have no other."""

FILL = -1.0e9

def _scores(q, k, mask, keys):
    scores = q @ k[keys].T / _root(q)
    return scores if mask is None else np.where(mask[:, keys], scores, FILL)

# %% finite-fill / added
FILL = -1.0e9

def _scores(q, k, mask, keys):
    scores = q @ k[keys].T / _root(q)
    return scores if mask is None else scores + np.where(mask[:, keys], 0, FILL)

# %% dead-row-nan
# killed_by: dead
"""The output of a query that may look at no key is NaN: 0 divided by 0. Its sum is 0, so divide by
1 there; its lse is minus infinity."""

def _finish(top, total, o):
    return o / total[:, None], top + np.log(total)

# %% merge-averages
# killed_by: merge
"""The merged output is the plain mean of the two. Each side weighs as much as the sum of its
exponentials, exp(lse)."""

def merge(o1, lse1, o2, lse2):
    return (o1 + o2) / 2, np.logaddexp(lse1, lse2)

# %% merge-by-lse
# killed_by: merge
"""The outputs are weighted with lse itself, a logarithm, which may be negative or 0. A side weighs
as much as the sum of its exponentials, exp(lse)."""

_right = merge

def merge(o1, lse1, o2, lse2):
    o = (lse1[:, None] * o1 + lse2[:, None] * o2) / (lse1 + lse2)[:, None]
    return o, _right(o1, lse1, o2, lse2)[1]

# %% merge-overflows
# killed_by: merge
"""merge takes exp of the two lse as they are. Around 2,000 that is infinite, and around -2,000 it
is 0. Take the larger of the two off first."""

def merge(o1, lse1, o2, lse2):
    first, second = np.exp(lse1)[:, None], np.exp(lse2)[:, None]
    total = first + second
    return (first * o1 + second * o2) / total, np.log(total[:, 0])

# %% merge-overflows / guarded
def merge(o1, lse1, o2, lse2):
    first, second = np.exp(lse1)[:, None], np.exp(lse2)[:, None]
    total = first + second
    return (first * o1 + second * o2) / np.where(total > 0, total, 1), np.log(total[:, 0])

# %% merge-dead-nan
# killed_by: merge-dead
"""merge gives NaN for a query that has no key on either side: the larger of the two lse is minus
infinity, and that less itself is NaN. Such a query has an output of 0 and an lse of minus infinity,
as in attend."""

def merge(o1, lse1, o2, lse2):
    top = np.maximum(lse1, lse2)
    first, second = np.exp(lse1 - top)[:, None], np.exp(lse2 - top)[:, None]
    total = first + second
    return (first * o1 + second * o2) / total, top + np.log(total[:, 0])

# %% merge-dead-nan / output
def merge(o1, lse1, o2, lse2):
    lse = np.logaddexp(lse1, lse2)
    return np.exp(lse1 - lse)[:, None] * o1 + np.exp(lse2 - lse)[:, None] * o2, lse

# %% merges-in-place
# killed_by: merge
"""merge changes the first output that it is given. Whoever merges that one again, in another order,
merges something else. Return a new array."""

def merge(o1, lse1, o2, lse2):
    top = np.maximum(lse1, lse2)
    first, second = np.exp(lse1 - _floor(top)), np.exp(lse2 - _floor(top))
    o1 *= first[:, None]
    o1 += second[:, None] * o2
    o, lse = _finish(top, first + second, o1)
    o1[...] = o
    return o, lse

# %% no-row-correction
# killed_by: [grad-qk, differences]
"""Your gradient of the scores is the weights times the gradients that arrive at them. All weights
of a query share one sum, so raising one score lowers the others: subtract rowsum(grad_o * o) from
the gradients of the weights first."""

def _grad_scores(weights, grad_weights, correction):
    return weights * grad_weights

# %% correction-over-all-rows
# killed_by: [grad-qk, differences]
"""What you subtract from the gradients of the weights is one number for all queries. Each query has
a softmax of its own, so each has its own: the sum of grad_o * o over its features."""

def _correction(grad_o, o):
    return (grad_o * o).sum()

# %% correction-over-all-rows / mean
def _correction(grad_o, o):
    return (grad_o * o).sum(axis=1).mean()

# %% correction-of-each-block
# killed_by: [grad-qk, differences]
"""What you subtract from the gradients of the weights is the sum of weight times gradient over the
keys of one block. It has to run over all keys, which rowsum(grad_o * o) does."""

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = _weights(_scores(q, k, mask, keys), lse)
        grad_weights = grad_o @ v[keys].T
        grad_scores = _grad_scores(weights, grad_weights, _correction(weights, grad_weights))
        grad_q += grad_scores @ k[keys] / _root(q)
        grad_k[keys] = grad_scores.T @ q / _root(q)
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v

# %% unscaled-in-backward
# killed_by: [grad-v, differences]
"""Your backward pass rebuilds the weights from dot products that are not divided by sqrt(d), while
lse belongs to scores that are."""

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = _weights(_root(q) * _scores(q, k, mask, keys), lse)
        grad_weights = grad_o @ v[keys].T
        grad_scores = _grad_scores(weights, grad_weights, _correction(grad_o, o))
        grad_q += grad_scores @ k[keys] / _root(q)
        grad_k[keys] = grad_scores.T @ q / _root(q)
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v

# %% last-block-lost-in-backward
# killed_by: [grad-v, differences]
"""Keys and values after the last full block get no gradient from you, and give none. Step from 0 to
S; the last slice is shorter by itself."""

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k) // block * block, block):
        weights = _weights(_scores(q, k, mask, keys), lse)
        grad_weights = grad_o @ v[keys].T
        grad_scores = _grad_scores(weights, grad_weights, _correction(grad_o, o))
        grad_q += grad_scores @ k[keys] / _root(q)
        grad_k[keys] = grad_scores.T @ q / _root(q)
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v

# %% unnormalized-in-backward
# killed_by: [grad-v, differences]
"""Your backward pass rebuilds the weights as exp(s - the block's maximum), which is not divided by
anything. exp(s - lse) is the weight among all keys."""

def _weights(scores, lse):
    return np.exp(scores - _floor(scores.max(axis=1))[:, None])

# %% block-normalized-in-backward
# killed_by: [grad-v, differences]
"""Your backward pass normalizes the weights within each block, so that every block has a total
weight of 1. A weight is a share of all keys: exp(s - lse)."""

def _weights(scores, lse):
    weights = np.exp(scores - _floor(scores.max(axis=1))[:, None])
    total = weights.sum(axis=1, keepdims=True)
    return weights / np.where(total > 0, total, 1)

# %% scale-lost-in-backward
# killed_by: [grad-qk, differences]
"""The gradient of q, that of k, or both lack the factor 1 / sqrt(d). The scores were divided by it
in the forward pass, so their gradient is divided once more on the way to q and to k."""

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = _weights(_scores(q, k, mask, keys), lse)
        grad_scores = _grad_scores(weights, grad_o @ v[keys].T, _correction(grad_o, o))
        grad_q += grad_scores @ k[keys]
        grad_k[keys] = grad_scores.T @ q
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v

# %% scale-lost-in-backward / scale-lost-in-grad-q
def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = _weights(_scores(q, k, mask, keys), lse)
        grad_weights = grad_o @ v[keys].T
        grad_scores = _grad_scores(weights, grad_weights, _correction(grad_o, o))
        grad_q += grad_scores @ k[keys]
        grad_k[keys] = grad_scores.T @ q / _root(q)
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v

# %% scale-lost-in-backward / scale-lost-in-grad-k
def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = _weights(_scores(q, k, mask, keys), lse)
        grad_weights = grad_o @ v[keys].T
        grad_scores = _grad_scores(weights, grad_weights, _correction(grad_o, o))
        grad_q += grad_scores @ k[keys] / _root(q)
        grad_k[keys] = grad_scores.T @ q
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v

# %% mask-forgotten-in-backward
# killed_by: masked-gradients
"""Your backward pass gives weights to keys that were hidden in the forward pass. Hide the same keys
again where scores are computed once more."""

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = np.exp(_scores(q, k, None, keys) - lse[:, None])
        grad_scores = _grad_scores(weights, grad_o @ v[keys].T, _correction(grad_o, o))
        grad_q += grad_scores @ k[keys] / _root(q)
        grad_k[keys] = grad_scores.T @ q / _root(q)
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v

# %% mask-forgotten-in-backward / guarded
def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = _weights(_scores(q, k, None, keys), lse)
        grad_scores = _grad_scores(weights, grad_o @ v[keys].T, _correction(grad_o, o))
        grad_q += grad_scores @ k[keys] / _root(q)
        grad_k[keys] = grad_scores.T @ q / _root(q)
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v

# %% dead-row-nan-in-backward
# killed_by: dead-gradients
"""One query that may look at no key makes gradients of keys and values NaN: its scores are minus
infinity and so is its lse, and their difference is NaN. Where lse is minus infinity take off 0, so
that its weights are 0."""

def _weights(scores, lse):
    return np.exp(scores - lse[:, None])

# %% normalizes-anew
# killed_by: shares
"""Your backward pass normalizes the weights over the keys that it holds, as if there were no
others. With two machines there are: the lse that it is given is that of all keys, and exp(s - lse)
is the weight among them."""

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    lse = attend(q, k, v, block, mask)[1]
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = _weights(_scores(q, k, mask, keys), lse)
        grad_scores = _grad_scores(weights, grad_o @ v[keys].T, _correction(grad_o, o))
        grad_q += grad_scores @ k[keys] / _root(q)
        grad_k[keys] = grad_scores.T @ q / _root(q)
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v

# %% normalizes-anew / with-output
def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    o, lse = attend(q, k, v, block, mask)
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = _weights(_scores(q, k, mask, keys), lse)
        grad_scores = _grad_scores(weights, grad_o @ v[keys].T, _correction(grad_o, o))
        grad_q += grad_scores @ k[keys] / _root(q)
        grad_k[keys] = grad_scores.T @ q / _root(q)
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v

# %% correction-of-these-keys
# killed_by: shares
"""What you subtract from the gradients of the weights is the sum of weight times gradient over the
keys of this machine. It has to be the sum over all keys, which rowsum(grad_o * o) is, whoever holds
them."""

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    dot = np.zeros((len(q), 1))
    for keys in _blocks(len(k), block):
        weights = _weights(_scores(q, k, mask, keys), lse)
        dot += (weights * (grad_o @ v[keys].T)).sum(axis=1, keepdims=True)
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = _weights(_scores(q, k, mask, keys), lse)
        grad_scores = _grad_scores(weights, grad_o @ v[keys].T, dot)
        grad_q += grad_scores @ k[keys] / _root(q)
        grad_k[keys] = grad_scores.T @ q / _root(q)
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v

# %% scales-in-place
# killed_by: forward
"""A call changes the caller's q. Whoever uses it again gets other numbers. Usually this is q /=
np.sqrt(d); write q / np.sqrt(d), a new array."""

def attend(q, k, v, block, mask=None):
    q /= _root(q)
    state = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for keys in _blocks(len(k), block):
        state = _add(state, _scores(q * _root(q), k, mask, keys), v[keys])
    return _finish(*state)

# %% output-used-up
# killed_by: shares
"""Your backward pass changes the o that it is given. The other machine needs it too. Usually this
is o *= grad_o; make a new array."""

def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    o *= grad_o
    dot = o.sum(axis=1, keepdims=True)
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = _weights(_scores(q, k, mask, keys), lse)
        grad_scores = _grad_scores(weights, grad_o @ v[keys].T, dot)
        grad_q += grad_scores @ k[keys] / _root(q)
        grad_k[keys] = grad_scores.T @ q / _root(q)
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v

# %% hidden-block-sets-zero
# killed_by: masked
"""For a query that has seen no key yet you take 0 for the maximum, and keep it: a running maximum of
0 never comes down to scores of -2,000, whose exponentials are then all 0. Take off 0 in place of
minus infinity in the exponentials of this block, and let the maximum stay minus infinity."""

def _add(state, scores, values):
    top, total, o = state
    new = _floor(np.maximum(top, scores.max(axis=1)))
    shrink = np.exp(top - new)
    weights = np.exp(scores - new[:, None])
    return new, shrink * total + weights.sum(axis=1), shrink[:, None] * o + weights @ values

def _finish(top, total, o):
    live = total > 0
    total = np.where(live, total, 1)
    return o / total[:, None], np.where(live, top + np.log(total), -np.inf)
