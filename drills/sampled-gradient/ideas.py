# %% own-reward-in-the-mean
# killed_by: mean
"""You take off the mean of all rewards, that of the draw itself among them. It depends on the draw, so
that a part of what it should learn goes with it: in the mean over all draws 1 - 1/B of the gradient is
left, half of it with two. Large batches do not show it. Take off the mean of the other rewards."""

def _advantages(values):
    return values - values.mean()

# %% sum-over-draws
# killed_by: mean
"""Your estimate is B times the gradient: it adds up what each draw says. Every draw by itself estimates
the gradient, so that the mean over the batch does."""

def estimate(logits, actions, rewards):
    score = np.eye(len(logits))[actions] - _softmax(logits)
    return (_advantages(rewards)[:, None] * score).sum(axis=0)

# %% corrected-twice
# killed_by: mean
"""Your estimate is B / (B - 1) times the gradient. You take off the mean of the others, which needs no
correction, and divide by B - 1 as for a mean that includes the draw. One of the two is enough."""

def estimate(logits, actions, rewards):
    score = np.eye(len(logits))[actions] - _softmax(logits)
    return (_advantages(rewards)[:, None] * score).sum(axis=0) / max(len(actions) - 1, 1)

# %% divided-by-the-spread
# killed_by: mean
"""You divide by the standard deviation of the rewards, which depends on every draw. Batches that happen
to agree count for more, and in the mean that is no gradient of the expected reward; where all rewards
are equal it is 0 / 0, or decided by an eps."""

def _advantages(values):
    others = max(len(values) - 1, 1)
    return (values - (values.sum() - values) / others) / (values.std() + 1e-8)

# %% divided-by-the-spread / of-all
def _advantages(values):
    return (values - values.mean()) / (values.std() + 1e-8)

# %% divided-by-the-spread / of-a-sample
def _advantages(values):
    return (values - values.mean()) / (values.std(ddof=1) + 1e-8) if len(values) > 1 else values

# %% by-probabilities
# killed_by: mean
"""Your estimate is the gradient by the probabilities: 1/p of what was drawn. Asked for is that by the
logits, of which each moves all probabilities; the logarithm of a softmax has the derivative of one-hot
less p."""

def estimate(logits, actions, rewards):
    p = _softmax(logits)
    score = np.eye(len(logits))[actions] / p
    return (_advantages(rewards)[:, None] * score).mean(axis=0)

# %% weighted-by-probability
# killed_by: mean
"""You weigh each draw by its probability. Frequent actions are drawn often already, so that they count
twice: once by how often they come, and once by your weight."""

def estimate(logits, actions, rewards):
    p = _softmax(logits)
    score = np.eye(len(logits))[actions] - p
    return ((p[actions] * _advantages(rewards))[:, None] * score).mean(axis=0)

# %% downhill
# killed_by: mean
"""Your estimate is the negative gradient, the one of a loss. The contract asks for that of the expected
reward, which points to more of it."""

def estimate(logits, actions, rewards):
    score = _softmax(logits) - np.eye(len(logits))[actions]
    return (_advantages(rewards)[:, None] * score).mean(axis=0)

# %% nothing-taken-off
# killed_by: constant
"""Your estimate is unbiased, and takes nothing off the rewards. With a thousand added to all of them it
points along whatever was drawn, a thousand times as far, and only in the mean does that cancel. Take
off something that does not depend on the draw."""

def _advantages(values):
    return values

# %% the-next-one-off
# killed_by: spread
"""You take off the reward of a single other draw. That is unbiased, and brings in the noise of that one;
the mean of all others has less."""

def _advantages(values):
    return values - np.roll(values, 1) if len(values) > 1 else values

# %% single-draw-gives-nothing
# killed_by: single
"""With a single draw your estimate is 0. There is no other reward to take off, and that is no reason to
learn nothing: without any, the estimate is noisy and right in the mean."""

right_advantages = _advantages

def _advantages(values):
    return right_advantages(values) if len(values) > 1 else np.zeros(1)

# %% single-draw-is-nan
# killed_by: single
"""With a single draw your estimate is NaN: the mean of no others is 0 / 0. One of these in a batch of
prompts and the weights are gone. Take off 0 there."""

def _advantages(values):
    with np.errstate(invalid="ignore", divide="ignore"):
        return values - (values.sum() - values) / (len(values) - 1)

# %% own-value-in-the-mean
# killed_by: score
"""Your score_grad takes off the mean of all values, that of the draw itself among them. In the mean over
all draws 1 - 1/B of the gradient is left. The mean of the others does no harm."""

def score_grad(mu, log_std, eps, f):
    values = f(_draw(mu, log_std, eps))
    advantages = values - values.mean() if len(eps) > 1 else values
    by_mu, by_log_std = _scores(log_std, eps)
    return (advantages * by_mu).mean(), (advantages * by_log_std).mean()

# %% score-without-baseline
# killed_by: score-spread
"""Your score_grad is unbiased, and takes nothing off f. With a thousand added to f its noise is that of a
thousand. Take off the mean of the other values, as in the first part."""

def score_grad(mu, log_std, eps, f):
    values = f(_draw(mu, log_std, eps))
    by_mu, by_log_std = _scores(log_std, eps)
    return (values * by_mu).mean(), (values * by_log_std).mean()

# %% values-elsewhere
# killed_by: elsewhere
"""Your score_grad asks for f at points that were not drawn. Mirrored draws make a good estimate, and
each costs another run of the simulator; the contract has the values at the B draws alone."""

def score_grad(mu, log_std, eps, f):
    by_mu, by_log_std = _scores(log_std, eps)
    above, below = f(_draw(mu, log_std, eps)), f(_draw(mu, log_std, -eps))
    odd, even = (above - below) / 2, _advantages((above + below) / 2)
    return (odd * by_mu).mean(), (even * by_log_std).mean()

# %% log-std-of-a-variance
# killed_by: [score, path]
"""Your draws have the standard deviation exp(log_std / 2): that is for the logarithm of a variance. What
you are given is that of a standard deviation."""

def _std(log_std):
    return np.exp(log_std / 2)

# %% variance-for-std
# killed_by: [score, path]
"""Your draws have the standard deviation exp(2 log_std), which is the variance. z is mu + exp(log_std)
times eps."""

def _std(log_std):
    return np.exp(2 * log_std)

# %% score-by-std
# killed_by: score
"""Your score_grad gives the derivative by the standard deviation, in the place of that by its logarithm.
The two differ by a factor of exp(log_std)."""

def _scores(log_std, eps):
    return eps / _std(log_std), (eps**2 - 1) / _std(log_std)

# %% score-not-divided
# killed_by: score
"""Your derivative of log p(z) in mu is eps. It is (z - mu) over the variance, which is eps over the
standard deviation."""

def _scores(log_std, eps):
    return eps, eps**2 - 1

# %% score-by-the-variance
# killed_by: score
"""Your derivative of log p(z) in mu is eps over the variance. z - mu is exp(log_std) times eps, and one
of the two factors cancels."""

def _scores(log_std, eps):
    return eps / _std(log_std) ** 2, eps**2 - 1

# %% normalizer-forgotten
# killed_by: score-single
"""Your derivative of log p(z) in log_std is eps^2, without the -1 that comes of the density's own
factor 1 / std. Where a mean of others is taken off that constant cancels; with a single draw it does not.
"""

def _scores(log_std, eps):
    return eps / _std(log_std), eps**2

# %% draw-as-a-constant
# killed_by: path
"""Your path_grad is 0, as if the draw were a number that came from outside: what sample and detach make
of it. The mean of f(z) does depend on mu and log_std, by way of z = mu + exp(log_std) * eps."""

def _paths(log_std, eps):
    return np.zeros(len(eps)), np.zeros(len(eps))

# %% path-without-noise
# killed_by: path
"""Your derivative in log_std has no eps. z moves with log_std by exp(log_std) * eps: draws above mu go
up, and those below it down."""

def _paths(log_std, eps):
    return np.ones(len(eps)), _std(log_std) * np.ones(len(eps))

# %% path-by-std
# killed_by: path
"""Your path_grad gives the derivative by the standard deviation, which moves z by eps. By its logarithm
there is a factor of exp(log_std) more."""

def _paths(log_std, eps):
    return np.ones(len(eps)), eps

# %% slope-at-the-mean
# killed_by: path
"""Your path_grad takes the slope of f at mu for all draws. The mean of f is not f of the mean: each draw
has the slope at its own z."""

def path_grad(mu, log_std, eps, df):
    slope = df(np.full(len(eps), float(mu)))
    by_mu, by_log_std = _paths(log_std, eps)
    return (slope * by_mu).mean(), (slope * by_log_std).mean()

# %% root-of-the-batch
# killed_by: noise
"""Your noise falls as one over the root of the batch. That is how the standard deviation falls; a squared
distance falls as 1/B."""

def noise(grads, batch, replacement=True):
    return _trace(grads) / np.sqrt(batch) * _finite(len(grads), batch, replacement)

# %% distance-for-its-square
# killed_by: noise
"""Your noise is the root of what was asked for, the mean squared distance."""

right_noise = noise

def noise(grads, batch, replacement=True):
    return np.sqrt(right_noise(grads, batch, replacement))

def batch_for(grads, relative, replacement=True):
    limit = relative * np.sqrt(_square(grads.mean(axis=0)))
    batch = 1
    while noise(grads, batch, replacement) > limit:
        batch += 1
    return batch

# %% as-if-a-sample
# killed_by: noise
"""You divide by N - 1, as if the examples were a sample of something larger. They are all there is: their
variance has N below."""

def _trace(grads):
    return _square(grads - grads.mean(axis=0)) / max(len(grads) - 1, 1)

# %% squares-less-a-square
# killed_by: agreeing
"""Your noise comes of the mean of the squares less the square of the mean. Where gradients nearly agree
these are two large numbers that are almost equal, and their difference is what rounding left, which may
be below 0. Take the mean off first, and square then."""

def _trace(grads):
    return _square(grads) / len(grads) - _square(grads.mean(axis=0))

# %% mean-over-parameters
# killed_by: noise
"""Your noise is a mean over the parameters. A squared distance is their sum."""

def _trace(grads):
    return _square(grads - grads.mean(axis=0)) / grads.size

# %% around-zero
# killed_by: noise
"""Your noise is the mean square of the gradients, not of their distance from the mean. What all examples
agree about is no noise."""

def _trace(grads):
    return _square(grads) / len(grads)

# %% replacement-ignored
# killed_by: without
"""Your noise is the same with and without replacement. Where no example is drawn twice a batch of all N
has none: there is a factor of (N - batch) / (N - 1)."""

def _finite(n, batch, replacement):
    return 1.0

# %% share-that-is-left
# killed_by: without
"""Your factor without replacement is 1 - batch / N. For a batch of one, which is the same with and without,
it is not 1: (N - batch) / (N - 1) is."""

def _finite(n, batch, replacement):
    return 1.0 if replacement else 1 - batch / n

# %% squared-on-one-side
# killed_by: batch
"""Your batch_for compares the noise with relative times the squared norm. The root of the noise is what
has to be at most relative times the norm, so that relative is squared as well."""

def batch_for(grads, relative, replacement=True):
    limit = relative * _square(grads.mean(axis=0))
    batch = 1
    while noise(grads, batch, replacement) > limit:
        batch += 1
    return batch

# %% one-more-than-needed
# killed_by: batch
"""Your batch_for wants the noise to be below the limit. Where a batch meets it exactly you take one
more; at most means that it will do."""

def batch_for(grads, relative, replacement=True):
    limit = relative**2 * _square(grads.mean(axis=0))
    batch = 1
    while noise(grads, batch, replacement) >= limit and noise(grads, batch, replacement) > 0:
        batch += 1
    return batch

# %% rounded-down
# killed_by: batch
"""Your batch_for rounds down, so that the noise of the batch it gives is above the limit. Round up."""

def batch_for(grads, relative, replacement=True):
    limit = relative**2 * _square(grads.mean(axis=0))
    batch = 1
    while noise(grads, batch + 1, replacement) >= limit:
        batch += 1
    return batch

# %% batch-with-replacement-always
# killed_by: batch
"""Your batch_for does not look at replacement. Without it fewer examples will do, and never more than
there are."""

def batch_for(grads, relative, replacement=True):
    limit = relative**2 * _square(grads.mean(axis=0))
    batch = 1
    while noise(grads, batch, True) > limit:
        batch += 1
    return batch

# %% alone-is-nan
# killed_by: alone
"""With a single example and no replacement your noise is 0 / 0. There is nothing else to draw, so that it
is 0."""

def _finite(n, batch, replacement):
    return 1.0 if replacement else np.float64(n - batch) / np.float64(n - 1)

# %% without-by-default
# killed_by: usual
"""Where replacement is left out you draw without it. The signature has True."""

right_noise_again, right_batch_for = noise, batch_for

def noise(grads, batch, replacement=False):
    return right_noise_again(grads, batch, replacement)

def batch_for(grads, relative, replacement=False):
    return right_batch_for(grads, relative, replacement)

# %% median-taken-off
# killed_by: mean
"""You take off the median of the rewards. Which reward that is depends on every draw, that of the draw
itself among them, so that in the mean this is no gradient of the expected reward. The mean of the
other rewards does not depend on the draw that it is taken off from."""

def _advantages(values):
    return values - np.median(values) if len(values) > 1 else values

# %% best-taken-off
# killed_by: mean
"""You take off the largest of the rewards. It depends on every draw, that of the draw itself among
them, and the best draw of a batch teaches nothing. The mean of the other rewards does not depend on
the draw that it is taken off from."""

def _advantages(values):
    return values - values.max() if len(values) > 1 else values
