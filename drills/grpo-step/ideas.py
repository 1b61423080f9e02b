# %% clips-alone
# killed_by: objective
"""Your objective is the clipped ratio times A for every token. Outside of the band that is constant
on both sides, so a token that has moved the wrong way gets no gradient: a good one that has become
rarer, a bad one that has become likelier. The clip is there to stop gains. Take the smaller of
r A and clip(r) A, with the gradient of the one that is taken."""
def _objective(ratio, a, low, high):
    clipped = np.clip(ratio, 1 - low, 1 + high)
    return clipped * a, np.where(ratio == clipped, ratio * a, 0)

# %% minimum-of-ratios
# killed_by: objective
"""You take the smaller of r and clip(r), and multiply it by A afterwards. For a negative A the order
turns round: the smaller ratio gives the larger product. A bad token that has become rare is then
pushed down without end, and one that has become likely is not pushed enough. Compare the products."""
def _objective(ratio, a, low, high):
    kept = np.minimum(ratio, np.clip(ratio, 1 - low, 1 + high))
    return kept * a, np.where(ratio == kept, ratio * a, 0)

# %% larger-of-the-two
# killed_by: objective
"""You take the larger of r A and clip(r) A. Then gains beyond the band count in full, and what has
gone wrong by more than the band does not count: the reverse of what is asked. The clip may only
make the objective smaller."""
def _objective(ratio, a, low, high):
    plain, clipped = ratio * a, np.clip(ratio, 1 - low, 1 + high) * a
    return np.maximum(plain, clipped), np.where(plain >= clipped, plain, 0)

# %% no-clip
# killed_by: objective
"""Your objective is r A, however far r has moved: nothing keeps four steps on one batch from going
as far as they like. For a positive A it stops growing at 1 + high, for a negative one at
1 - low."""
def _objective(ratio, a, low, high):
    return ratio * a, ratio * a

# %% one-width
# killed_by: objective
"""The band that you use reaches as far above 1 as below it. `low` is its width below 1 and `high`
that above."""
def _objective(ratio, a, low, high):
    plain, clipped = ratio * a, np.clip(ratio, 1 - low, 1 + low) * a
    return np.minimum(plain, clipped), np.where(plain <= clipped, plain, 0)

# %% one-width / high
def _objective(ratio, a, low, high):
    plain, clipped = ratio * a, np.clip(ratio, 1 - high, 1 + high) * a
    return np.minimum(plain, clipped), np.where(plain <= clipped, plain, 0)

# %% band-of-logarithms
# killed_by: objective
"""You clip logp - old between -low and high, so your band of ratios is exp(-low) to exp(high). It is
asked for 1 - low to 1 + high; with widths of 0.2 the borders are off by 2 %."""
def _objective(ratio, a, low, high):
    plain, clipped = ratio * a, np.clip(ratio, np.exp(-low), np.exp(high)) * a
    return np.minimum(plain, clipped), np.where(plain <= clipped, plain, 0)

# %% ratio-of-answers
# killed_by: objective
"""You form one ratio for each answer, from the mean of its logp - old. That is clipping by sequence,
a method of its own. Here every token has its own ratio, and is clipped or not by itself."""
def _ratio(logp, old, mask):
    lengths = np.maximum(mask.sum(axis=1, keepdims=True), 1)
    mean = _selected(logp, old, mask).sum(axis=1, keepdims=True) / lengths
    return np.broadcast_to(np.exp(mean), mask.shape)

# %% ascends
# killed_by: objective
"""You return the objective, which is to be made large. The loss is minus the objective, because an
optimizer makes it small; and so is the gradient."""
def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    objective, slope = _objective(_ratio(logp, old, mask), advantages[:, None], low, high)
    if ref is not None:
        penalty, pull = _penalty(_selected(ref, logp, mask))
        objective, slope = objective - beta * penalty, slope - beta * pull
    share = _shares(mask, mean, total)
    return float((share * objective).sum()), share * slope

# %% tokens-alike
# killed_by: lengths
"""You average over all tokens at once, so that an answer counts as much as it is long. Asked for is
a mean within each answer first, and then one over answers: each counts the same."""
def _shares(mask, mean, total):
    return mask / _counted(mask.sum(), total)

# %% padding-in-the-mean
# killed_by: lengths
"""You divide by T, the padding included: a short answer counts less than a long one. Divide by the
number of tokens of each answer."""
def _shares(mask, mean, total):
    if mean == "token":
        return mask / _counted(mask.size, total)
    return mask / mask.shape[1] / _counted(len(mask), total)

# %% sums-over-tokens
# killed_by: objective
"""You add up the tokens of an answer and average over answers only. An answer then counts as much as
it is long, and the loss grows with the length."""
def _shares(mask, mean, total):
    if mean == "token":
        return mask / _counted(mask.sum(), total)
    return mask / _counted(len(mask), total)

# %% gradient-inside-the-band
# killed_by: gradient
"""Your gradient is 0 wherever a ratio lies outside of the band, also where your loss, which is right,
follows r A: for a good token that has become rarer than the band, and for a bad one that has become
likelier. There the derivative is r A."""
def _objective(ratio, a, low, high):
    plain, clipped = ratio * a, np.clip(ratio, 1 - low, 1 + high) * a
    inside = (ratio >= 1 - low) & (ratio <= 1 + high)
    return np.minimum(plain, clipped), np.where(inside, plain, 0)

# %% gradient-through-the-clip
# killed_by: gradient
"""Your gradient passes through the clip as though it were not there; your loss is right. Where the
objective has stopped growing it is constant, and its derivative 0."""
def _objective(ratio, a, low, high):
    plain, clipped = ratio * a, np.clip(ratio, 1 - low, 1 + high) * a
    return np.minimum(plain, clipped), plain

# %% gradient-of-the-first-step
# killed_by: gradient
"""Your gradient has A where the derivative of r A is r A: that of exp(logp - old) is the ratio
itself. On the first step the ratio is 1, and nobody sees the difference."""
def _objective(ratio, a, low, high):
    plain, clipped = ratio * a, np.clip(ratio, 1 - low, 1 + high) * a
    return np.minimum(plain, clipped), np.where(plain <= clipped, a, 0)

# %% batch-statistics
# killed_by: advantages
"""You take mean and standard deviation over all rewards. An answer is measured against other answers
to the same problem; across problems you reward it for having had an easy one."""
def _baseline(by_problem):
    return by_problem.mean()

def _scale(by_problem, eps):
    return by_problem.std() + eps

# %% batch-statistics / spread-alone
def _scale(by_problem, eps):
    return by_problem.std() + eps

# %% every-nth-answer
# killed_by: advantages
"""Your groups are made of every n-th reward. Answers to one problem stand next to each other: the
first `group` rewards are the first group."""
def _groups(rewards, group):
    return rewards.reshape(group, -1).T

def _ungrouped(by_problem):
    return by_problem.T.reshape(-1)

# %% sample-deviation
# killed_by: advantages
"""Your standard deviation divides by group - 1. It is asked for with group as the divisor; the
ratio of the two changes the step with the size of a group."""
def _scale(by_problem, eps):
    spread = ((by_problem - by_problem.mean(axis=1, keepdims=True)) ** 2).sum(axis=1, keepdims=True)
    return np.sqrt(spread / max(by_problem.shape[1] - 1, 1)) + eps

# %% not-scaled
# killed_by: advantages
"""You take the mean off and divide by nothing. That is a method of its own, which weighs problems
differently. Here differences are divided by the standard deviation of the group, and eps."""
def _scale(by_problem, eps):
    return np.ones_like(by_problem)

# %% mean-of-the-others
# killed_by: advantages
"""You compare a reward with the mean of the others in its group. The mean that is asked for has the
reward itself in it; yours is larger by group / (group - 1)."""
def _baseline(by_problem):
    others = max(by_problem.shape[1] - 1, 1)
    return (by_problem.sum(axis=1, keepdims=True) - by_problem) / others

# %% eps-under-the-root
# killed_by: advantages
"""You add eps to the variance, below the root. It belongs to the standard deviation. The root of an
eps of 1e-4 is 0.01: where rewards hardly differ, yours divides by a hundred times what was asked
for."""
def _scale(by_problem, eps):
    return np.sqrt(by_problem.var(axis=1, keepdims=True) + eps)

# %% guards-against-zero
# killed_by: advantages
"""You treat a standard deviation of exactly 0 as special, and add eps to no other. The mean of seven
rewards of 0.1 is not 0.1 in floating point: what is left, 1e-17, divided by its own size is a whole
advantage. Add eps to every standard deviation."""
def _scale(by_problem, eps):
    spread = by_problem.std(axis=1, keepdims=True)
    return np.where(spread == 0, eps, spread)

# %% guards-against-zero / nothing
def _scale(by_problem, eps):
    return by_problem.std(axis=1, keepdims=True)

# %% nearly-equal-is-equal
# killed_by: nearly-equal
"""You give a group no advantages if its rewards are nearly equal: if their standard deviation is below
some number, or if np.allclose says so. Only equal rewards have none, and there 0 divided by eps is
0 without a special case. What is a small difference depends on the scale of the rewards."""
_right_scale = _scale

def _scale(by_problem, eps):
    spread = by_problem.std(axis=1, keepdims=True)
    return np.where(spread < 4e-3, np.inf, _right_scale(by_problem, eps))

# %% nearly-equal-is-equal / by-allclose
_right_scale = _scale

def _scale(by_problem, eps):
    alike = np.isclose(by_problem, by_problem[:, :1], atol=1e-3).all(axis=1, keepdims=True)
    return np.where(alike, np.inf, _right_scale(by_problem, eps))

# %% nearly-equal-is-equal / by-1e-6
_right_scale = _scale

def _scale(by_problem, eps):
    spread = by_problem.std(axis=1, keepdims=True)
    return np.where(spread < 1e-6, np.inf, _right_scale(by_problem, eps))

# %% variance-in-one-pass
# killed_by: equal-rewards
"""Your variance is the mean of squares less the square of the mean. Of equal rewards rounding can
leave a number below 0, and its root is NaN. Square the differences from the mean: that is never
negative."""
def _scale(by_problem, eps):
    squares, mean = (by_problem**2).mean(axis=1, keepdims=True), by_problem.mean(axis=1, keepdims=True)
    return np.sqrt(squares - mean**2) + eps

# %% empty-divides
# killed_by: empty
"""You divide by the number of tokens of an answer that has none, which is NaN. Such an answer adds
0; divide by at least 1."""
def _shares(mask, mean, total):
    if mean == "token":
        return mask / _counted(mask.sum(), total)
    return mask / mask.sum(axis=1, keepdims=True) / _counted(len(mask), total)

# %% empty-left-out
# killed_by: empty
"""You average over the answers that have tokens. One without any adds 0 and counts among the N;
otherwise a batch with many empty answers takes larger steps."""
def _shares(mask, mean, total):
    if mean == "token":
        return mask / _counted(mask.sum(), total)
    lengths = mask.sum(axis=1, keepdims=True)
    return mask / np.maximum(lengths, 1) / _counted(int((lengths > 0).sum()), total)

# %% masks-the-product
# killed_by: padding
"""You compute with what stands outside of the mask, and multiply the result by 0. Where that is NaN
or infinite the product is NaN. Select before you compute: 0 for logp - old where no token
stands."""
def _selected(a, b, mask):
    return a - b

# %% answers-alike
# killed_by: tokens
"""You average within each answer although `mean` is "token". Then all tokens of the batch count the
same, and a long answer more than a short one."""
def _shares(mask, mean, total):
    lengths = mask.sum(axis=1, keepdims=True)
    return mask / np.maximum(lengths, 1) / _counted(len(mask), total)

# %% own-total
# killed_by: micro
"""You divide by what this call holds, whatever `total` says. Means of micro-batches do not add up to
the mean of the batch: each has to be divided by the number of the whole batch."""
def _counted(here, total):
    return max(here, 1)

# %% pull-upside-down
# killed_by: pull
"""Your penalty takes d = logp - ref. It is as large as it should be to second order, and grows on
the wrong side: what is asked for is exponentially large where the policy has made a token rare that
the reference likes. d is ref - logp."""
def _penalty(d):
    return np.exp(-d) + d - 1, np.exp(-d) * -1 + 1

# %% pull-by-the-difference
# killed_by: pull
"""Your penalty is logp - ref. Its mean over samples is the divergence, but its gradient is 1 for
every token, whatever the reference says, and so pulls nowhere on average."""
def _penalty(d):
    return -d, np.ones_like(d)

# %% pull-by-the-square
# killed_by: pull
"""Your penalty is half the square of ref - logp. That is another estimate of the same divergence,
equal to second order; exp(d) - d - 1 is asked for."""
def _penalty(d):
    return d**2 / 2, -d

# %% pull-has-no-gradient
# killed_by: pull
"""Your penalty is in the loss and not in the gradient: a number on a dashboard that moves no
weight. Its derivative with respect to logp is 1 - exp(d)."""
def _penalty(d):
    return np.exp(d) - d - 1, np.zeros_like(d)

# %% pull-outside-the-mean
# killed_by: pull
"""Your penalty is averaged over all tokens of the call, whatever `mean` and `total` say. It is a part of
each token's loss, and is averaged as the rest of it is."""
def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    objective, slope = _objective(_ratio(logp, old, mask), advantages[:, None], low, high)
    share = _shares(mask, mean, total)
    loss, grad = float(-(share * objective).sum()), -share * slope
    if ref is not None:
        penalty, pull = _penalty(_selected(ref, logp, mask))
        each = mask / max(mask.sum(), 1)
        loss, grad = loss + beta * float((each * penalty).sum()), grad + beta * each * pull
    return loss, grad

# %% ratio-of-one
# killed_by: objective
"""Your result does not depend on `old`: every ratio is 1, as on the first step. Usually the present
policy is compared with itself (logp - logp.detach()), or A multiplies logp directly. From the
second step on the policy that sampled is another one: the ratio is exp(logp - old)."""
def _objective(ratio, a, low, high):
    ones = np.ones_like(ratio)
    return ones * a, ones * a

# %% ratio-of-one / by-logp
def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    a, share = advantages[:, None], _shares(mask, mean, total)
    objective, slope = np.where(mask, logp, 0) * a, np.ones(mask.shape) * a
    if ref is not None:
        penalty, pull = _penalty(_selected(ref, logp, mask))
        objective, slope = objective - beta * penalty, slope - beta * pull
    return float(-(share * objective).sum()), -share * slope

# %% clipped-ratio-as-a-weight
# killed_by: objective
"""Your objective is the clipped ratio, held constant, times A logp. That is CISPO, a method of its own:
every token keeps a gradient, also one whose ratio has gained as much as the band allows. Asked for is
the smaller of r A and clip(r) A, with the gradient of the one that is taken."""
def _weights(ratio, low, high):
    return np.clip(ratio, 1 - low, 1 + high)

def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    slope = _weights(_ratio(logp, old, mask), low, high) * advantages[:, None]
    objective = slope * np.where(mask, logp, 0)
    if ref is not None:
        penalty, pull = _penalty(_selected(ref, logp, mask))
        objective, slope = objective - beta * penalty, slope - beta * pull
    share = _shares(mask, mean, total)
    return float(-(share * objective).sum()), -share * slope

# %% clipped-ratio-as-a-weight / above-alone
def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    slope = np.minimum(_ratio(logp, old, mask), 1 + high) * advantages[:, None]
    objective = slope * np.where(mask, logp, 0)
    if ref is not None:
        penalty, pull = _penalty(_selected(ref, logp, mask))
        objective, slope = objective - beta * penalty, slope - beta * pull
    share = _shares(mask, mean, total)
    return float(-(share * objective).sum()), -share * slope

# %% clipped-ratio-as-a-weight / in-the-gradient
def _objective(ratio, a, low, high):
    clipped = np.clip(ratio, 1 - low, 1 + high) * a
    return clipped, clipped

# %% dual-clip
# killed_by: objective
# parameters: {LIMIT: [2.0, 3.0, 5.0, 10.0]}
"""For a negative A your objective is never below {LIMIT} A: a bad token that has become more than
{LIMIT} times as likely gets no gradient. That is the dual clip of other recipes. This contract has
no such bound, and r A goes on falling."""
LIMIT = 3.0

def _objective(ratio, a, low, high):
    plain, clipped = ratio * a, np.clip(ratio, 1 - low, 1 + high) * a
    stopped = (a < 0) & (ratio > LIMIT)
    objective = np.where(stopped, LIMIT * a, np.minimum(plain, clipped))
    return objective, np.where((plain <= clipped) & ~stopped, plain, 0)

# %% all-places-counted
# killed_by: tokens
"""With mean "token" you divide by N T, the padding included, so that a batch with much padding takes
small steps. Divide by the number of tokens. (A constant such as N times the longest length is what
Dr. GRPO divides by; here it is the tokens of the batch.)"""
def _shares(mask, mean, total):
    if mean == "token":
        return mask / _counted(mask.size, total)
    lengths = mask.sum(axis=1, keepdims=True)
    return mask / np.maximum(lengths, 1) / _counted(len(mask), total)

# %% pull-times-the-ratio
# killed_by: pull
"""Your pull is multiplied by the ratio. That corrects for tokens that another policy sampled, as
some recipes do; the contract adds beta (exp(d) - d - 1) as it is, and on the first step the two
agree."""
def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    ratio = _ratio(logp, old, mask)
    objective, slope = _objective(ratio, advantages[:, None], low, high)
    if ref is not None:
        d = _selected(ref, logp, mask)
        objective = objective - beta * ratio * _penalty(d)[0]
        slope = slope - beta * _slope_of_pull(ratio, d)
    share = _shares(mask, mean, total)
    return float(-(share * objective).sum()), -share * slope

def _slope_of_pull(ratio, d):
    return -ratio * d

# %% pull-times-the-ratio / held-constant
def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    ratio = _ratio(logp, old, mask)
    objective, slope = _objective(ratio, advantages[:, None], low, high)
    if ref is not None:
        penalty, pull = _penalty(_selected(ref, logp, mask))
        objective, slope = objective - beta * ratio * penalty, slope - beta * ratio * pull
    share = _shares(mask, mean, total)
    return float(-(share * objective).sum()), -share * slope

# %% pull-times-the-ratio / in-the-loss
def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    ratio = _ratio(logp, old, mask)
    objective, slope = _objective(ratio, advantages[:, None], low, high)
    if ref is not None:
        penalty, pull = _penalty(_selected(ref, logp, mask))
        objective, slope = objective - beta * ratio * penalty, slope - beta * pull
    share = _shares(mask, mean, total)
    return float(-(share * objective).sum()), -share * slope
