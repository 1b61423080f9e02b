# %% bias-on-every-rank
# killed_by: output
"""y has b2 once per rank: every rank adds the whole of it to its part, and the parts are summed.
With one rank, or where b2 is 0, nothing shows. Usually a layer was called with its bias and reduced
afterward. Add b2 once, after the sum."""

def _output(h, w2, b2, all_reduce):
    return all_reduce([h_r @ w + b for h_r, w, b in zip(h, w2, b2, strict=True)])

# %% bias-on-one-rank-after
# killed_by: output
"""Only one rank has b2 in its y. Usually that comes from code that adds it on rank 0 before the
sum, where it is right. After the sum every rank adds it."""

def _output(h, w2, b2, all_reduce):
    y = all_reduce([h_r @ w for h_r, w in zip(h, w2, strict=True)])
    return [y[0] + b2[0], *y[1:]]

# %% bias-left-out
# killed_by: output
"""y has no b2 at all. It is a part of the layer, whoever adds it: add it once, after the sum."""

def _output(h, w2, b2, all_reduce):
    return all_reduce([h_r @ w for h_r, w in zip(h, w2, strict=True)])

# %% mean-over-ranks
# killed_by: output
"""The sum of the parts is divided by the number of ranks. They are terms of one matrix product and
not estimates of the same thing. Usually this is a habit from data-parallel gradients."""

def _output(h, w2, b2, all_reduce):
    y = all_reduce([h_r @ w for h_r, w in zip(h, w2, strict=True)])
    return [y_r / len(y) + b for y_r, b in zip(y, b2, strict=True)]

# %% each-rank-its-part
# killed_by: output
"""Each rank returns what its own hidden features give. That is one term of y; the sum over ranks
is the layer's output, and every rank needs it."""

def _output(h, w2, b2, all_reduce):
    return [h_r @ w + b for h_r, w, b in zip(h, w2, b2, strict=True)]

# %% hidden-assembled
# killed_by: one-sum
"""y is right, and you ask for the whole hidden layer between the two products, which is more than
one sum of the shape of y. Usually each layer was made parallel by itself. A rank's columns of w1
and rows of w2 belong together; only the end needs a sum."""

def _hidden_everywhere(h, all_reduce):
    ends, full = np.cumsum([h_r.shape[1] for h_r in h]), []
    for h_r, end in zip(h, ends, strict=True):
        padded = np.zeros((len(h_r), ends[-1]))
        padded[:, end - h_r.shape[1] : end] = h_r
        full.append(padded)
    return [a[:, e - h_r.shape[1] : e] for a, h_r, e in zip(all_reduce(full), h, ends, strict=True)]

def mlp(x, w1, b1, w2, b2, all_reduce):
    return _output(_hidden_everywhere(_hidden(x, w1, b1), all_reduce), w2, b2, all_reduce)

# %% parts-added-without-asking
# killed_by: own
"""Your ranks use each other's arrays. In one process they lie side by side; on cards they do not,
and here each rank was given foreign numbers for the others' shards. What a rank needs of the others
comes through all_reduce."""

def _output(h, w2, b2, all_reduce):
    y = sum(h_r @ w for h_r, w in zip(h, w2, strict=True))
    return [y + b for b in b2]

# %% forward-pass-again
# killed_by: one-sum-back
"""The gradients are right, and the backward pass sends the forward pass's sum once more. y is not
needed for a gradient: each rank has its own hidden features, from what it holds."""

def mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce, inner=mlp_backward):
    mlp(x, w1, b1, w2, b2, all_reduce)
    return inner(grad_y, x, w1, b1, w2, b2, all_reduce)

# %% gradients-added-without-asking
# killed_by: own-back
"""In mlp_backward your ranks use each other's arrays. In one process they lie side by side; on
cards they do not, and here each rank was given foreign numbers for the others' shards. What a rank
needs of the others comes through all_reduce."""

def _grad_x(parts, all_reduce):
    return [sum(parts) for _ in parts]

# %% gains-added-without-asking
# killed_by: own-norm
"""In norm_backward your ranks use each other's rows. In one process they lie side by side; on cards
they do not, and here each rank was given foreign numbers for the others' rows. What a rank needs of
the others comes through all_reduce."""

def _grad_gain(parts, all_reduce):
    return [sum(parts) for _ in parts]

# %% grad-x-left-partial
# killed_by: backward
"""grad_x is what flows back through a rank's own hidden features. x went into those of all ranks,
so its gradient is the sum over them. Usually everything above is right, and what lies below learns
from a part."""

def _grad_x(parts, all_reduce):
    return parts

# %% grad-x-averaged
# killed_by: backward
"""grad_x is divided by the number of ranks. What comes back through the hidden features of each
rank are terms of one sum, and not several estimates of it."""

def _grad_x(parts, all_reduce):
    return [g / len(parts) for g in all_reduce(parts)]

# %% incoming-gradient-reduced
# killed_by: backward
"""Every gradient is too large by the number of ranks: grad_y is summed over ranks, which all hold
the same one. Usually each collective of the forward pass was given its twin. The backward of a sum
that everyone gets is a copy, and the backward of a copy is a sum."""

def mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce, inner=mlp_backward):
    return inner(all_reduce(grad_y), x, w1, b1, w2, b2, all_reduce)

# %% replicated-bias-reduced
# killed_by: backward
"""The gradient of b2 is too large by the number of ranks. Every rank knows grad_y, so each has that
gradient whole already, and nothing is to be summed."""

def mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce, inner=mlp_backward):
    *others, grad_b2 = inner(grad_y, x, w1, b1, w2, b2, all_reduce)
    return (*others, all_reduce(grad_b2))

# %% replicated-bias-divided
# killed_by: backward
"""The gradient of b2 is too small by the number of ranks. Usually b2 / R is added on each rank
before the sum, which is right in the forward pass; the gradient of b2 / R is then taken for that of
b2."""

def mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce, inner=mlp_backward):
    *others, grad_b2 = inner(grad_y, x, w1, b1, w2, b2, all_reduce)
    return (*others, [g / len(x) for g in grad_b2])

# %% gain-left-partial
# killed_by: norm
"""Each rank keeps the gradient of the gain from its own rows. Ranks then take different steps, and
gains that began equal drift apart. Rows are divided as in data parallelism: sum over ranks."""

def _grad_gain(parts, all_reduce):
    return parts

# %% gain-averaged
# killed_by: norm
"""The gradient of the gain is a mean over ranks. The loss is a sum over rows, and so is the
gradient: with a mean it depends on how many ranks the rows are divided among."""

def _grad_gain(parts, all_reduce):
    return [g / len(parts) for g in all_reduce(parts)]

# %% norm-gradient-reduced-again
# killed_by: norm
"""grad_h is summed over ranks, which all hold the same, whole one, so that gradients are too large
by the number of ranks. Only what a rank computes from its own rows is a part."""

def norm_backward(grad_h, x, gain, all_reduce, inner=norm_backward):
    return inner(all_reduce(grad_h), x, gain, all_reduce)

# %% rows-split-evenly
# killed_by: norm
"""You divide the rows evenly among the ranks, and a rank looks at the gradients of rows that are
not its own where they hold different numbers of them. Its rows begin where those of the ranks
before it end."""

def _own_rows(grad_h, x):
    n = len(grad_h[0]) // len(x)
    starts = [min(r * n, len(grad_h[0]) - len(x_r)) for r, x_r in enumerate(x)]
    return [g[s : s + len(x_r)] for g, x_r, s in zip(grad_h, x, starts, strict=True)]

# %% first-rows-for-all
# killed_by: norm
"""Every rank looks at the first rows of grad_h. They belong to rank 0; the rows of a rank begin
where those of the ranks before it end."""

def _own_rows(grad_h, x):
    return [g[: len(x_r)] for g, x_r in zip(grad_h, x, strict=True)]

# %% own-maximum
# killed_by: loss
"""Each rank subtracts the largest of its own logits, and the sums of exponentials are added. They
are measured from different points. Usually the function for one card was applied on each rank. All
of them have to use the largest logit of the row."""

def _top(logits, all_reduce):
    return [z.max(axis=1) for z in logits]

# %% foreign-targets-wrap
# killed_by: loss
"""For a target that an earlier rank holds the index is negative, and numpy counts that from the
end: the logit of a wrong token is added, or the index is an exception. Usually only the upper end
of a rank's range was tested. Test both ends."""

def _places(logits, targets):
    found, start = [], 0
    for z, t in zip(logits, targets, strict=True):
        here = t < start + z.shape[1]
        found.append((here, np.where(here, t - start, 0)))
        start += z.shape[1]
    return found

# %% foreign-targets-clipped
# killed_by: loss
"""A target that another rank holds is clipped to a rank's first or last token, whose logit is
added. A rank has nothing to say about such a target: 0 in the sum, and nothing is subtracted in its
gradient."""

def _places(logits, targets):
    found, start = [], 0
    for z, t in zip(logits, targets, strict=True):
        found.append((np.full(len(t), True), np.clip(t - start, 0, z.shape[1] - 1)))
        start += z.shape[1]
    return found

# %% one-hot-on-every-rank
# killed_by: loss
"""Every rank subtracts 1 at a token of its own in every row. Only the rank that holds the target
does; the gradient of the others is the probability and nothing else. The loss is right."""

def _grad(exps, total, place):
    grad = exps / total[:, None]
    grad[np.arange(len(grad)), place[1]] -= 1
    return grad / len(grad)

# %% own-sum-in-the-gradient
# killed_by: loss
"""In the gradient each rank's probabilities add up to 1: they are divided by the sum of its own
exponentials. The whole row adds up to 1. The loss, which takes the whole sum, is right."""

def _grad(exps, total, place, inner=_grad):
    return inner(exps, exps.sum(axis=1), place)

# %% gradient-of-the-sum
# killed_by: loss
"""Your gradient is that of the sum over rows, and the loss is their mean: divide it by the number
of rows, too."""

def _grad(exps, total, place, inner=_grad):
    return inner(exps, total, place) * len(exps)

# %% no-maximum
# killed_by: far
"""No maximum is subtracted. With logits of hundreds the exponentials overflow or vanish, and the
loss is infinite or NaN. Small logits do not show it."""

def _top(logits, all_reduce):
    return [np.zeros(len(z)) for z in logits]

# %% one-maximum-for-all-rows
# killed_by: far
"""One maximum is subtracted from all rows. A row that lies far below it has exponentials of 0, and
a loss that is infinite. Each row has a maximum of its own."""

def _top(logits, all_reduce):
    return all_reduce([np.full(len(z), z.max()) for z in logits], "max")

# %% maximum-summed
# killed_by: far
"""You subtract the sum of the ranks' largest logits. For small logits any shift will do; for large
ones exponentials vanish or overflow. all_reduce takes "max"."""

def _top(logits, all_reduce):
    return all_reduce([z.max(axis=1) for z in logits])

# %% logits-assembled
# killed_by: three-numbers
"""The numbers are right, and you ask for whole rows of logits, which nobody has room for. Three
numbers per row are enough."""

def vocab_loss(logits, targets, all_reduce, inner=vocab_loss):
    ends, full = np.cumsum([z.shape[1] for z in logits]), []
    for z, end in zip(logits, ends, strict=True):
        padded = np.zeros((len(z), ends[-1]))
        padded[:, end - z.shape[1] : end] = z
        full.append(padded)
    whole = all_reduce(full)
    alone = [inner([z], [t], lambda parts, op="sum": parts) for z, t in zip(whole, targets, strict=True)]
    grads = [g[0][:, e - z.shape[1] : e] for (_, g), z, e in zip(alone, logits, ends, strict=True)]
    return [loss[0] for loss, _ in alone], grads

# %% rows-joined-without-asking
# killed_by: own-loss
"""In vocab_loss your ranks use each other's logits. In one process they lie side by side; on cards
they do not, and here each rank was given foreign numbers for the others' logits. What a rank needs
of the others comes through all_reduce."""

def vocab_loss(logits, targets, all_reduce, inner=vocab_loss):
    cuts = np.cumsum([z.shape[1] for z in logits])[:-1]
    losses, grads = inner([np.hstack(logits)], [targets[0]], lambda parts, op="sum": parts)
    return losses * len(logits), np.split(grads[0], cuts, axis=1)

# %% half-of-the-sums
# killed_by: traffic
"""You count two all-reduces where a layer has four. Attention has one and the MLP has one, in the
forward pass and again in the backward pass, where what was copied is summed."""

def traffic(n, d, ranks, itemsize, inner=traffic):
    return {name: value / 2 for name, value in inner(n, d, ranks, itemsize).items()}

# %% ring-goes-round-once
# killed_by: traffic
"""An all-reduce in a ring goes round twice: once to add the pieces up, once to hand out the sums.
You count one of the two."""

def traffic(n, d, ranks, itemsize, inner=traffic):
    found = inner(n, d, ranks, itemsize)
    return found | {"sent": found["sent"] / 2}

# %% sequence-parallel-halves
# killed_by: traffic
"""You let sequence parallelism send half as much. An all-reduce in a ring is a reduce-scatter and
an all-gather, which is just what takes its place. What it divides is the activations between."""

def traffic(n, d, ranks, itemsize, inner=traffic):
    found = inner(n, d, ranks, itemsize)
    return found | {"sent_sp": found["sent"] / 2}

# %% whole-arrays-per-message
# killed_by: traffic
"""Your ranks send the whole array in each message. In a ring a message has 1 / ranks of it."""

def traffic(n, d, ranks, itemsize, inner=traffic):
    found = inner(n, d, ranks, itemsize)
    return found | {"sent": found["sent"] * ranks, "sent_sp": found["sent_sp"] * ranks}

# %% entries-for-bytes
# killed_by: traffic
"""You count entries. Bytes are asked for: times itemsize."""

def traffic(n, d, ranks, itemsize, inner=traffic):
    return inner(n, d, ranks, 1)
