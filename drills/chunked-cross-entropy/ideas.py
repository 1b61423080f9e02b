# %% sum-of-losses
# killed_by: loss
"""Your loss is the sum over the tokens. The contract asks for their mean: a sum grows with the
batch. Divide by the number of tokens, once, after the last chunk."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    return loss, (grad_h, grad_w, h.dtype)

# %% sum-of-losses / in-the-loss
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(len(rows), 1)
    return loss, (grad_h / n, grad_w / n, h.dtype)

# %% sum-of-chunk-means
# killed_by: loss
"""Your loss is the sum of the chunks' means, and your gradients are those of that sum. With four
chunks of one length it is four times the mean. Add up the losses of tokens, without a mean per
chunk, and divide once by the number of tokens."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.mean())
        grad_h[some] = grad_logits @ w / len(some)
        grad_w += grad_logits.T @ h_some / len(some)
    return loss, (grad_h, grad_w, h.dtype)

# %% targets-of-the-first-chunk
# killed_by: loss
"""Every chunk is held against the targets of the first tokens of the batch, so that only the first
chunk is right. Take the same rows of h and of target."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[: len(some)])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(len(rows), 1)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% softmax-over-tokens
# killed_by: loss
"""Your softmax runs over the tokens of a chunk: what all of them give to one class sums to 1. Each
token distributes a total of 1 over the classes, so it runs over the last axis, and no token's loss
depends on what else is in its chunk."""

def _log_softmax(logits):
    shifted = logits - logits.max(axis=0, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=0, keepdims=True))

# %% last-chunk-only
# killed_by: gradients
"""Your grad_w is that of the last chunk: each chunk's takes the place of the one before. Every
token uses the same w, so its gradient is the sum over all chunks."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w = grad_logits.T @ h_some
    n = max(len(rows), 1)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% gradient-of-the-sum
# killed_by: gradients
"""Your gradients are those of the sum over the tokens, while your loss is their mean. They are too
large by the number of tokens."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(len(rows), 1)
    return loss / n, (grad_h, grad_w, h.dtype)

# %% gradient-of-chunk-means
# killed_by: gradients
"""Each chunk's share of your gradients is divided by the number of tokens in that chunk only. With
four chunks of one length that is four times the gradient of the mean. Divide by the number of
tokens in the batch."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w / len(some)
        grad_w += grad_logits.T @ h_some / len(some)
    n = max(len(rows), 1)
    return loss / n, (grad_h, grad_w, h.dtype)

# %% count-so-far
# killed_by: gradients
"""Each chunk's share of your gradients is divided by the tokens seen up to then, so that the first
chunk weighs most. The divisor is the same for all: count the tokens before the first chunk, or
divide after the last."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    seen = 0
    for some in _pieces(rows, chunk):
        seen += len(some)
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w / seen
        grad_w += grad_logits.T @ h_some / seen
    n = max(len(rows), 1)
    return loss / n, (grad_h, grad_w, h.dtype)

# %% target-not-subtracted
# killed_by: [gradients, differences]
"""Your gradient of the logits is p. The loss is -z[target] plus the logarithm of a sum of
exponentials; the first term takes 1 off at the target, and without it every class is pushed down,
the right one too."""

def _cross_entropy(logits, target):
    picked = np.arange(len(target)), target
    log_p = _log_softmax(logits)
    grad_logits = np.exp(log_p)
    return -log_p[picked], grad_logits

# %% target-only
# killed_by: [gradients, differences]
"""Your gradient of the logits is 0 but at the target. Raising the logit of any other class takes
probability from the target, so the loss depends on all of them: p - 1 at the target and p
elsewhere."""

def _cross_entropy(logits, target):
    picked = np.arange(len(target)), target
    log_p = _log_softmax(logits)
    grad_logits = np.zeros_like(log_p)
    grad_logits[picked] = np.exp(log_p[picked]) - 1
    return -log_p[picked], grad_logits

# %% descent-direction
# killed_by: [gradients, differences]
"""Your gradients have the opposite sign: they point where the loss falls. The gradient points
uphill, and the optimizer subtracts it."""

def _cross_entropy(logits, target):
    picked = np.arange(len(target)), target
    log_p = _log_softmax(logits)
    grad_logits = np.exp(log_p)
    grad_logits[picked] -= 1
    grad_logits *= -1
    return -log_p[picked], grad_logits

# %% mean-of-means
# killed_by: any-chunk
"""Your loss is the mean of the chunks' means. A token in a chunk that is not full then weighs more
than one in a full chunk; the test batch had only full ones. Add up losses and gradients as sums
over tokens, and divide once by the number of tokens."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.mean())
        grad_h[some] = grad_logits @ w / len(some)
        grad_w += grad_logits.T @ h_some / len(some)
    n = max(-(-len(rows) // chunk), 1)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% mean-of-means / in-the-loss
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.mean())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(len(rows), 1)
    chunks = max(-(-len(rows) // chunk), 1)
    return loss / chunks, (grad_h / n, grad_w / n, h.dtype)

# %% gradient-of-mean-of-means
# killed_by: any-chunk
"""Your loss is right, and your gradients are those of the mean of the chunks' means: a token in a
chunk that is not full has too large a share. Divide them by the number of tokens, once."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w / len(some)
        grad_w += grad_logits.T @ h_some / len(some)
    chunks = max(-(-len(rows) // chunk), 1)
    return loss / max(len(rows), 1), (grad_h / chunks, grad_w / chunks, h.dtype)

# %% short-chunk-dropped
# killed_by: any-chunk
"""The tokens after the last full chunk take no part: their loss is missing and their rows of grad_h
are 0. Usually this is N // chunk for the number of chunks. Let the last chunk be short: a slice
ends where the array does."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows[: len(rows) // chunk * chunk], chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(len(rows), 1)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% short-chunk-dropped / throughout
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    rows = rows[: len(rows) // chunk * chunk]
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(len(rows), 1)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% upstream-ignored
# killed_by: upstream
"""Your gradients are those of the loss, whatever arrives at it: grad_loss has no effect. With eight
batches per step, 1/8 arrives, and a step is eight times too large. Making the gradients in the
forward pass is fine, because they are linear in grad_loss: multiply both by it in the backward
pass."""

def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    return grad_h.astype(dtype), grad_w.astype(dtype)

# %% upstream-in-one
# killed_by: upstream
"""One of your two gradients is multiplied by grad_loss, the other is not. Both are derivatives of
grad_loss * loss."""

def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    return (grad_loss * grad_h).astype(dtype), grad_w.astype(dtype)

# %% upstream-in-one / upstream-in-grad-w-only
def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    return grad_h.astype(dtype), (grad_loss * grad_w).astype(dtype)

# %% upstream-divides
# killed_by: upstream
"""Your gradients are divided by grad_loss. It is the derivative of what follows with respect to the
loss, so it multiplies."""

def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    return (grad_h / grad_loss).astype(dtype), (grad_w / grad_loss).astype(dtype)

# %% padding-counts
# killed_by: padding
"""Padding counts like any other token: it is in the mean, and its target is used as that of a
class. numpy reads index -100 of 130 classes as class 30; with fewer than 100 classes it raises an
IndexError; clamped, it is class 0. Pick the tokens that count before anything else."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(np.arange(len(h)), chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = len(h)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% padding-counts / padding-clamped
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(np.arange(len(h)), chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), np.maximum(target[some], 0))
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = len(h)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% padding-counts / padding-as-word-0
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(np.arange(len(h)), chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), np.where(target[some] == ignore_index, 0, target[some]))
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = len(h)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% padding-in-the-divisor
# killed_by: padding
"""Padding is left out of the sums, and still counted in a number that you divide by, for the loss,
for the gradients, or for both. A batch with much padding then counts for little. Divide by the
number of tokens that count."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = len(h)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% padding-in-the-divisor / padding-in-the-gradients-divisor
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(len(rows), 1)
    return loss / n, (grad_h / len(h), grad_w / len(h), h.dtype)

# %% padding-in-the-divisor / padding-in-the-losss-divisor
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(len(rows), 1)
    return loss / len(h), (grad_h / n, grad_w / n, h.dtype)

# %% padding-keeps-its-gradient
# killed_by: padding
"""The loss of padding is left out, and its gradient is not: its rows of grad_h are not 0, and
grad_w has its share. What does not count in the loss has no gradient. Set those rows of p - onehot
to 0, or leave these tokens out from the start."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    counted = target != ignore_index
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(np.arange(len(h)), chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), np.where(counted[some], target[some], 0))
        loss += float(losses[counted[some]].sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(int(counted.sum()), 1)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% padding-keeps-its-gradient / padding-keeps-p
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    counted = target != ignore_index
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(np.arange(len(h)), chunk):
        h_some = h[some].astype(wide)
        kept = counted[some]
        log_p = _log_softmax(h_some @ w.T.astype(wide))
        losses = -log_p[kept, target[some][kept]]
        grad_logits = np.exp(log_p)
        grad_logits[kept, target[some][kept]] -= 1
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(int(counted.sum()), 1)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% nothing-is-nan
# killed_by: nothing
"""A batch of nothing but padding gives NaN. Usually that is 0 divided by 0. One such loss makes the
mean of a whole epoch NaN, and such a gradient every weight. The contract wants 0 there."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = len(rows)
    with np.errstate(all="ignore"):
        mean = np.float64(loss) / n
        return mean, (grad_h / n, grad_w / n, h.dtype)

# %% nothing-is-nan / in-the-loss
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(len(rows), 1)
    loss = loss / n if len(rows) else float("nan")
    return loss, (grad_h / n, grad_w / n, h.dtype)

# %% no-max-shift
# killed_by: large
"""With large logits your loss is infinite or NaN. Usually the exponentials are taken of the logits
as they are, and exp overflows at 710 (in float32 at 89). The softmax does not change when one
number is taken off all logits of a token; take off the largest."""

def _log_softmax(logits):
    with np.errstate(all="ignore"):
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

# %% max-of-the-chunk
# killed_by: large
"""Where two tokens of a chunk have logits thousands apart, the loss of the lower one is not finite.
Usually one maximum is taken off for all tokens of a chunk, so that the exponentials of the lower
one are all 0. Take each token's own maximum."""

def _log_softmax(logits):
    shifted = logits - logits.max()
    with np.errstate(all="ignore"):
        return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))

# %% float64-returned
# killed_by: single
"""With float32 arrays a gradient comes back as float64. The contract asks for the dtype of h.
Usually a number of numpy's, such as np.float64(grad_loss) or a count that is an np.int64, has met
the array; Python's own numbers leave float32 alone."""

def loss_backward(grad_loss, ctx):
    grad_h, grad_w, _ = ctx
    grad_loss = np.float64(grad_loss)
    return grad_loss * grad_h, grad_loss * grad_w

# %% float32-returned
# killed_by: half-loss
"""With float16 arrays the gradients come back as float32. To compute in float32 is right; the last
line converts to the dtype of h."""

def loss_backward(grad_loss, ctx):
    grad_h, grad_w, _ = ctx
    return grad_loss * grad_h, grad_loss * grad_w

# %% half-throughout
# killed_by: half-loss
"""With float16 arrays your logits have been rounded to float16, whose numbers near 10 lie 0.008
apart, and loss and gradients are those of the rounded ones. Convert a chunk of h, and w, to float32
before the product."""

def _wide(dtype):
    return dtype

# %% half-throughout / half-logits
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy((h[some] @ w.T).astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(len(rows), 1)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% grad-w-added-up-in-half
# killed_by: half
"""With float16 arrays the chunks' gradients of w are added up in float16. With every chunk the sum
is rounded to 11 significant bits, so that small shares are lost in a large sum. Add up in float32
and convert once, at the end."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, w.dtype)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += (grad_logits.T @ h_some).astype(w.dtype)
    n = max(len(rows), 1)
    return loss / n, (grad_h / n, grad_w.astype(wide) / n, h.dtype)

# %% grad-w-added-up-in-half / divided-first
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    n = max(len(rows), 1)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, w.dtype)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w / n
        grad_w += (grad_logits.T @ h_some / n).astype(w.dtype)
    return loss / n, (grad_h, grad_w.astype(wide), h.dtype)

# %% rounded-before-the-scale
# killed_by: scaled
"""With float16 arrays the gradients are rounded to float16 before grad_loss multiplies them. What
is below 3e-8 is 0 by then, and 65,536 times 0 is 0: the loss scale has no effect. Keep float32 in
ctx, multiply, and then convert."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(len(rows), 1)
    return loss / n, (_rounded(grad_h / n, h), _rounded(grad_w / n, h), h.dtype)

def _rounded(grad, h):
    return grad.astype(h.dtype).astype(grad.dtype)

# %% scale-in-half
# killed_by: scaled
"""A grad_loss of 65,536 becomes infinity, because it is converted to float16, whose largest number
is 65,504. Then even small gradients are infinite or NaN. Multiply in float32, and convert the
product."""

def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    with np.errstate(all="ignore"):
        grad_loss = dtype.type(grad_loss)
        return (grad_loss * grad_h).astype(dtype), (grad_loss * grad_w).astype(dtype)

# %% scale-in-half / of-gradients-in-half
def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    with np.errstate(all="ignore"):
        grad_loss = dtype.type(grad_loss)
        return grad_loss * grad_h.astype(dtype), grad_loss * grad_w.astype(dtype)

# %% ctx-multiplied-in-place
# killed_by: again
"""Your backward pass multiplies the gradients in ctx in place. A second backward pass with the same
ctx has the first grad_loss in its result as well. Usually this is grad_h *= grad_loss; make a new
array."""

def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    grad_h *= grad_loss
    grad_w *= grad_loss
    return grad_h.astype(dtype), grad_w.astype(dtype)

# %% ctx-multiplied-in-place / and-returned
def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    grad_h *= grad_loss
    grad_w *= grad_loss
    return grad_h.astype(dtype, copy=False), grad_w.astype(dtype, copy=False)

# %% returns-what-ctx-holds
# killed_by: again
"""Where 1 arrives at the loss, your backward pass hands out the arrays that ctx holds, and a second
one hands out the same arrays again. Whoever adds to one changes the other. Return new arrays."""

def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    if grad_loss == 1:
        return grad_h.astype(dtype, copy=False), grad_w.astype(dtype, copy=False)
    return (grad_loss * grad_h).astype(dtype), (grad_loss * grad_w).astype(dtype)

# %% pads-rewritten
# killed_by: padding
"""Your forward pass writes another number over the targets of padding, in the caller's array.
Whoever uses it again finds no padding in it. Make a new array."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    counted = target != ignore_index
    target[~counted] = 0
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(np.arange(len(h)), chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        grad_logits[~counted[some]] = 0
        loss += float(losses[counted[some]].sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    n = max(int(counted.sum()), 1)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)

# %% keeps-the-logits
# killed_by: state
"""Your ctx holds a number for each pair of a token and a class: the logits, or the gradient with
respect to them, whole or chunk by chunk. Either turn a chunk's into its share of grad_h and grad_w
at once, or keep h, w and target and compute it again."""

def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, kept = 0.0, np.zeros((len(rows), len(w)), wide)
    for at in _pieces(np.arange(len(rows)), chunk):
        some = rows[at]
        logits = h[some].astype(wide) @ w.T.astype(wide)
        losses, grad_logits = _cross_entropy(logits, target[some])
        loss += float(losses.sum())
        kept[at] = logits
    return loss / max(len(rows), 1), (h, w, target, rows, kept)

def loss_backward(grad_loss, ctx):
    h, w, target, rows, kept = ctx
    wide = kept.dtype
    grad_logits = _cross_entropy(kept, target[rows])[1]
    scale = grad_loss / max(len(rows), 1)
    grad_h, grad_w = np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    grad_h[rows] = grad_logits @ w * scale
    grad_w += grad_logits.T @ h[rows].astype(wide) * scale
    return grad_h.astype(h.dtype), grad_w.astype(w.dtype)

# %% keeps-the-logits / keeps-the-gradient-of-the-logits
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, kept = 0.0, np.zeros((len(rows), len(w)), wide)
    for at in _pieces(np.arange(len(rows)), chunk):
        some = rows[at]
        logits = h[some].astype(wide) @ w.T.astype(wide)
        losses, grad_logits = _cross_entropy(logits, target[some])
        loss += float(losses.sum())
        kept[at] = grad_logits
    return loss / max(len(rows), 1), (h, w, target, rows, kept)

def loss_backward(grad_loss, ctx):
    h, w, target, rows, kept = ctx
    wide = kept.dtype
    grad_logits = kept
    scale = grad_loss / max(len(rows), 1)
    grad_h, grad_w = np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    grad_h[rows] = grad_logits @ w * scale
    grad_w += grad_logits.T @ h[rows].astype(wide) * scale
    return grad_h.astype(h.dtype), grad_w.astype(w.dtype)

# %% keeps-the-logits / keeps-a-chunk-each
def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, kept = 0.0, []
    for some in _pieces(rows, chunk):
        losses, grad_logits = _cross_entropy(h[some].astype(wide) @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        kept.append((some, grad_logits))
    return loss / max(len(rows), 1), (h, w, len(rows), kept)

def loss_backward(grad_loss, ctx):
    h, w, n, kept = ctx
    wide = _wide(h.dtype)
    grad_h, grad_w = np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    scale = grad_loss / max(n, 1)
    for some, grad_logits in kept:
        grad_h[some] = grad_logits @ w * scale
        grad_w += grad_logits.T @ h[some].astype(wide) * scale
    return grad_h.astype(h.dtype), grad_w.astype(w.dtype)

# %% hundred-built-in
# killed_by: given
"""You leave out the targets of -100, whatever ignore_index is. Where it is -1, as in many data sets, numpy
takes the last class for it, and padding counts. Compare with the argument."""
right_forward = loss_forward

def loss_forward(h, w, target, chunk, ignore_index=-100):
    return right_forward(h, w, target, chunk)
