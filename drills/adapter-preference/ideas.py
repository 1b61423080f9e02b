# %% reference-with-the-adapter
# killed_by: loss
"""Your reference has the adapter as well: it is the policy itself, and moves with it. Every margin is
0 and every loss ln 2, however far the tuning has come, and each pair pulls as hard as on the first
step. The reference is the model before tuning, which is weight alone."""
def _reference(h, weight, a, b, alpha):
    return _logits(h, weight, a, b, alpha)

# %% no-reference
# killed_by: loss
"""The reference does not occur in your loss. The margin is then that of the policy alone: a pair that
the model had right before tuning counts as learned, and nothing holds the policy near its start."""
_with_reference = _scores

def _reference(h, weight, a, b, alpha):
    return None

def _scores(logits, targets, row, rows):
    return np.zeros(rows) if logits is None else _with_reference(logits, targets, row, rows)

# %% adapter-as-reference
# killed_by: loss
"""Your reference is what the adapter adds, without the matrix. It is the other way round: the matrix
alone is the model before tuning."""
def _reference(h, weight, a, b, alpha):
    return _logits(h, weight, a, b, alpha) - h @ weight.T

# %% alpha-undivided
# killed_by: loss
"""You multiply the product of the adapter by alpha. It is alpha divided by the rank, so that the rank
can be changed and the learning rate left alone. At rank 1 nobody sees the difference."""
def _scale(alpha, a):
    return alpha

# %% root-of-the-rank
# killed_by: loss
"""You divide alpha by the root of the rank. That is a variant with a name of its own; here it is alpha
divided by the rank."""
def _scale(alpha, a):
    return alpha / len(a) ** 0.5

# %% beta-outside
# killed_by: loss
"""You multiply the loss by beta, and not the margin. Within the margin beta says when a pair counts as
learned; outside it only scales the step."""
def _gap(scores):
    preferred, rejected = np.split(scores, 2)
    return preferred - rejected

_with_beta = preference_loss

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    found = _with_beta(hidden, tokens, prompt, length, weight, a, b, alpha, 1.0, smoothing)
    return tuple(beta * one for one in found)

# %% no-beta
# killed_by: loss
"""Your result does not depend on beta, the factor of the margin."""
_with_beta = preference_loss

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    return _with_beta(hidden, tokens, prompt, length, weight, a, b, alpha, 1.0, smoothing)

# %% rejected-less-preferred
# killed_by: loss
"""Your margin is rejected less preferred, so that descent makes rejected answers likelier."""
def _gap(scores):
    preferred, rejected = np.split(scores, 2)
    return rejected - preferred

def _grad_scores(of_gaps):
    return np.concatenate([-of_gaps, of_gaps])

# %% neighbors-as-pairs
# killed_by: loss
"""You compare rows 0 and 1, 2 and 3, and so on. Here all preferred answers come first, and row i is
compared with row P + i."""
def _gap(scores):
    return scores[::2] - scores[1::2]

def _grad_scores(of_gaps):
    return np.stack([of_gaps, -of_gaps], axis=1).reshape(-1)

# %% pairs-added
# killed_by: loss
"""You add up the losses of pairs. Asked for is their mean, so that the step does not grow with the
batch."""
_of_mean = _loss

def _loss(margin, smoothing):
    loss, slope = _of_mean(margin, smoothing)
    return len(margin) * loss, len(margin) * slope

# %% mean-of-tokens
# killed_by: loss
"""You divide each score by the number of its tokens. That is another objective: a score is the
log-probability of the whole answer, a sum."""
def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    row, h, targets = _answers(hidden, tokens, prompt, length)
    frozen, policy = _reference(h, weight, a, b, alpha), _logits(h, weight, a, b, alpha)
    rows, many = len(tokens), length - prompt
    before, now = (_gap(_scores(z, targets, row, rows) / many) for z in (frozen, policy))
    loss, slope = _loss(beta * (now - before), smoothing)
    grad = (_grad_scores(beta * slope) / many)[row, None] * _grad_logits(policy, targets)
    scale = _scale(alpha, a)
    return loss, scale * (grad @ b).T @ h, scale * grad.T @ (h @ a.T)

# %% predicted-by-itself
# killed_by: loss
"""You look a token up in the logits of its own place, which have seen it already. Those of the place
before predict it."""
def _answers(hidden, tokens, prompt, length):
    row, place = np.nonzero(_counted(np.arange(tokens.shape[1]), prompt, length))
    return row, hidden[row, place], tokens[row, place]

# %% prompt-counted
# killed_by: rows
"""You score the prompt as well. Nobody preferred it; a score begins with the first token of the
answer. Where both rows have the same prompt, and one model scores it alike, it cancels."""
def _counted(place, prompt, length):
    return (place >= 1) & (place < length[:, None])

# %% first-token-lost
# killed_by: loss
"""Your score begins one token late. The first token of an answer stands at `prompt`, is predicted by
the last one of the prompt, and counts."""
def _counted(place, prompt, length):
    return (place > prompt[:, None]) & (place < length[:, None])

# %% padding-counted
# killed_by: rows
"""You go on to the end of the row. What stands at `length` and after is padding."""
def _counted(place, prompt, length):
    return (place >= prompt[:, None]) & (place < place[-1] + 1 + 0 * length[:, None])

# %% length-without-the-prompt
# killed_by: rows
"""You take `length` for that of the answer and go on to prompt + length. It is that of prompt and
answer together."""
def _counted(place, prompt, length):
    return (place >= prompt[:, None]) & (place < (prompt + length)[:, None])

# %% gradient-of-the-first-step
# killed_by: gradient
"""Every pair of yours pulls with 1/2, which is right where the margin is 0, as on the first step. The
derivative of the loss is sigmoid(-margin): a pair that is learned lets go. Your loss is right."""
_of_margin = _loss

def _loss(margin, smoothing):
    return _of_margin(margin, smoothing)[0], (smoothing - 0.5) * np.ones_like(margin) / len(margin)

# %% sigmoid-of-the-margin
# killed_by: gradient
"""Pairs of yours pull with sigmoid(margin): those that are learned most, those that are wrong least.
It is sigmoid(-margin). At a margin of 0 the two agree. Your loss is right."""
_of_margin = _loss

def _loss(margin, smoothing):
    return _of_margin(margin, smoothing)[0], -_of_margin(-margin, smoothing)[1] * -1

# %% preferred-alone
# killed_by: gradient
"""Your gradient has no part from the rejected answers. The loss, which is right, falls as well where
they become less likely."""
def _grad_scores(of_gaps):
    return np.concatenate([of_gaps, 0 * of_gaps])

# %% gradient-without-beta
# killed_by: gradient
"""Your gradient lacks beta. The margin is beta times a difference of gaps, so beta is its inner
derivative; your loss is right."""
_with_beta = preference_loss

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    loss, *grads = _with_beta(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing)
    return loss, *(grad / beta for grad in grads)

# %% unscaled-gradient
# killed_by: gradient
"""Your gradient lacks alpha / r, by which the product of the adapter is multiplied. The loss is
right."""
_scaled = preference_loss

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    loss, *grads = _scaled(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing)
    return loss, *(grad / _scale(alpha, a) for grad in grads)

# %% logarithm-of-a-sigmoid
# killed_by: far
"""You take the logarithm of a sigmoid that has been rounded to 0, or of 1 plus an exponential that has
overflowed. -log sigmoid(m) is log(1 + exp(-m)), which np.logaddexp(0, -m) gives for every m."""
def _loss(margin, smoothing):
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        right, wrong = 1 / (1 + np.exp(-margin)), 1 / (1 + np.exp(margin))
        loss = -(1 - smoothing) * np.log(right) - smoothing * np.log(wrong)
    return float(loss.mean()), (smoothing * right - (1 - smoothing) * wrong) / len(margin)

# %% exponentials-of-logits
# killed_by: far
"""You exponentiate logits as they are. At 800 that overflows. The largest logit comes off first, and
is added to the logarithm afterwards."""
def _normalizer(logits):
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return np.log(np.exp(logits).sum(axis=1))

# %% margins-clipped
# killed_by: far
"""You keep margins between -50 and 50. A pair that is wrong by more than that no longer pulls in
proportion, and its loss is too small."""
_of_any = _loss

def _loss(margin, smoothing):
    return _of_any(np.clip(margin, -50, 50), smoothing)

# %% padding-multiplied
# killed_by: padding
"""You compute with what stands outside of the answers and multiply it by 0 afterwards. 0 times NaN is
NaN. Leave it out before you compute."""
_of_tokens = preference_loss

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    found = _of_tokens(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing)
    rest = (0 * hidden[:, :-1]).sum()
    return tuple(one + rest for one in found)

# %% probabilities-smoothed
# killed_by: smoothing
"""You mix the two probabilities and take the logarithm afterwards. Smoothing mixes the two losses: a
share of the labels may be wrong."""
_unmixed = _loss

def _loss(margin, smoothing):
    if not smoothing:
        return _unmixed(margin, 0.0)
    p = np.exp(-np.logaddexp(0, -margin))
    mixed = (1 - smoothing) * p + smoothing * (1 - p)
    return float(-np.log(mixed).mean()), -(1 - 2 * smoothing) * p * (1 - p) / mixed / len(margin)

# %% not-smoothed
# killed_by: smoothing
"""Your loss does not depend on smoothing."""
_of_labels = _loss

def _loss(margin, smoothing):
    return _of_labels(margin, 0.0)

# %% both-zero
# killed_by: learns
"""Both of your matrices are 0. The gradient of each has the other one as a factor, so they stay 0, and
the loss stays where it is. One of them has to begin at random."""
def fresh(weight, rank, rng):
    return np.zeros((rank, weight.shape[1])), np.zeros((len(weight), rank))

# %% too-few-directions
# killed_by: learns
"""Your new adapter has fewer than r directions. Rows of a that are alike get gradients that are alike,
and stay alike; those that are 0 while b is 0 stay 0. Either way r is smaller than it was paid for.
Draw every entry by itself."""
def fresh(weight, rank, rng):
    row = rng.standard_normal((1, weight.shape[1]))
    return np.repeat(row, rank, axis=0), np.zeros((len(weight), rank))

# %% both-random
# killed_by: begins
"""Both of your matrices are random, so the model is another one before the first step. If one of them
is 0 nothing changes yet."""
def fresh(weight, rank, rng):
    outputs, inputs = weight.shape
    return rng.standard_normal((rank, inputs)), rng.standard_normal((outputs, rank))

# %% seed-of-its-own
# killed_by: learns
"""Your new adapter does not depend on rng: every run begins with the same numbers."""
def fresh(weight, rank, rng):
    outputs, inputs = weight.shape
    return np.random.default_rng(0).standard_normal((rank, inputs)), np.zeros((outputs, rank))

# %% merged-without-its-scale
# killed_by: merge
"""You add b a as it is. In the loss the product is multiplied by alpha / r, and so it has to be
here."""
def merged(weight, a, b, alpha):
    return (weight + b @ a).astype(weight.dtype)

# %% merged-in-float64
# killed_by: merge
"""Your matrix is float64, whatever weight is: twice the bytes, and another dtype in every layer that
follows. Give it the dtype of weight."""
def merged(weight, a, b, alpha):
    return weight + _scale(alpha, a) * b @ a

# %% smoothed-in-one-place
# killed_by: smoothing
"""Of your loss and your gradient one is smoothed and the other is not, so that the gradient is not
that of the loss. The derivative of the smoothed loss with respect to a margin is
-(1 - smoothing) sigmoid(-margin) + smoothing sigmoid(margin)."""
_of_smoothing = _loss

def _loss(margin, smoothing):
    return _of_smoothing(margin, smoothing)[0], _of_smoothing(margin, 0.0)[1]

# %% smoothed-in-one-place / in-the-gradient
_of_smoothing = _loss

def _loss(margin, smoothing):
    return _of_smoothing(margin, 0.0)[0], _of_smoothing(margin, smoothing)[1]
