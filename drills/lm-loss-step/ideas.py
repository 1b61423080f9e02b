# %% double-shift
# killed_by: [full-rows, curve]
"""Position t is trained to predict token t + 2: inputs and targets are two apart. The loss falls
all the same, to the uncertainty of guessing two tokens ahead, and its gradient is right for it.
Usually one function shifts the labels and another shifts them again. Shift in one place, inputs
tokens[:, :-1] and targets tokens[:, 1:]."""

def _shifted(tokens):
    return tokens[:, :-2], tokens[:, 2:]

# %% no-shift
# killed_by: full-rows
"""Each token is trained to predict itself, which the model can read off its input. The loss falls
towards 0, below what the language allows, and the text repeats one token. The target is the token
that follows."""

def _shifted(tokens):
    return tokens[:, :-1], tokens[:, :-1]

# %% no-shift / to-the-end
def _shifted(tokens):
    return tokens, tokens

# %% no-shift / from-the-second
def _shifted(tokens):
    return tokens[:, 1:], tokens[:, 1:]

# %% shift-backwards
# killed_by: full-rows
"""Each token is trained to predict the one before it. Inputs are tokens[:, :-1], targets tokens[:,
1:]; here they have changed places."""

def _shifted(tokens):
    return tokens[:, 1:], tokens[:, :-1]

# %% shift-backwards / counted-by-the-later
def _shifted(tokens):
    return tokens[:, 1:], tokens[:, :-1]

def _predictions(tokens, pad):
    inputs, targets = _shifted(tokens)
    counted = inputs != pad
    return inputs[counted], targets[counted]

# %% last-token-dropped
# killed_by: full-rows
"""The last prediction of each full row is missing, that of its last token. In real text that is
often the one that ends it, and a model that never learns to stop is the usual result. Inputs are
tokens[:, :-1], all but the last; nothing else is cut off."""

def _shifted(tokens):
    return tokens[:, :-2], tokens[:, 1:-1]

# %% roll-wraps
# killed_by: full-rows
"""The last token of a row is trained to predict the first one of the same row. Usually this is
np.roll, which brings around what it pushes out. The last position has no target: leave it out."""

def _shifted(tokens):
    return tokens, np.roll(tokens, -1, axis=1)

# %% across-rows
# killed_by: full-rows
"""The end of a row is trained to predict the beginning of the next row. Usually the batch was made
flat before it was shifted. Shift along each row, then flatten if you like."""

def _shifted(tokens):
    text = tokens.ravel()
    return text[:-1], text[1:]

# %% divides-by-rows
# killed_by: full-rows
"""Your sums are divided by the number of rows, so loss and step grow with the length of the text.
Divide by the number of counted predictions."""

def _divisor(tokens, pad):
    return len(tokens)

# %% divides-by-tokens
# killed_by: full-rows
"""Your sums are divided by the number of tokens that are not padding. Each row has one prediction
fewer than tokens, so loss and step are too small, and more so for short rows. Divide by the number
of counted predictions."""

def _divisor(tokens, pad):
    return int((tokens != pad).sum())

# %% loss-summed
# killed_by: full-rows
"""Your loss is the sum over the counted predictions, and its gradients are those of their mean.
Divide the loss by the count too."""

_of_mean = loss_and_grad

def loss_and_grad(E, U, tokens, pad=0):
    loss, dE, dU = _of_mean(E, U, tokens, pad)
    return loss * _divisor(tokens, pad), dE, dU

# %% scatter-overwrites
# killed_by: [full-rows, differences]
"""In dE a token that occurs several times as input has the contribution of one occurrence only.
With repeated indices numpy's dE[x] += g keeps the last one. np.add.at(dE, x, g) adds all of them.
"""

CHUNK = 1 << 30

def _scatter(dE, inputs, grad_rows):
    dE[inputs] += grad_rows

# %% pads-counted
# killed_by: padded
"""Predictions of padding count like all others. They are easy, so the loss looks better, and the
model spends weight on learning to fill rows up. A prediction counts when its target is not pad."""

def _counts(targets, pad):
    return np.ones(targets.shape, dtype=bool)

# %% masks-by-input
# killed_by: padded
"""Whether a prediction counts is decided by its input. So the last word of each row that is filled
up is trained to predict padding. Decide by the target."""

def _predictions(tokens, pad):
    inputs, targets = _shifted(tokens)
    counted = inputs != pad
    return inputs[counted], targets[counted]

# %% divides-by-positions
# killed_by: padded
"""Padding is left out of your sums and stays in the divisor, B (T - 1), so batches with much
padding have small losses and small steps. Divide by the number of counted predictions."""

def _divisor(tokens, pad):
    return _shifted(tokens)[1].size

# %% row-means
# killed_by: padded
"""Your loss is a mean over rows of the mean of each row, so a prediction in a short row weighs more
than one in a long row. The contract asks for the mean over all counted predictions of the batch."""

def _sums(E, U, pieces, pad):
    loss, dE, dU, rows = 0.0, np.zeros_like(E), np.zeros_like(U), 0
    for tokens in pieces:
        for row in tokens:
            inputs, targets = _predictions(row[None], pad)
            if len(targets):
                row_dE, row_dU = np.zeros_like(E), np.zeros_like(U)
                loss += _add_chunk(E, U, inputs, targets, row_dE, row_dU) / len(targets)
                dE += row_dE / len(targets)
                dU += row_dU / len(targets)
                rows += 1
    return loss, dE, dU, rows

# %% pad-assumed-0
# killed_by: other-pad
"""Token 0 is taken for padding, whatever pad says. Where 0 is a word, its predictions are lost, and
where something else is padding, it counts. Compare with pad."""

def _counts(targets, pad):
    return targets != 0

# %% mean-of-means
# killed_by: accumulate
"""Your step averages the gradients of the pieces' means, so a prediction in a short piece weighs
more than one in a long piece. Add up sums and counts over the pieces, and divide once."""

def step(E, U, pieces, lr, pad=0):
    results = [loss_and_grad(E, U, tokens, pad) for tokens in pieces]
    loss, dE, dU = (sum(parts) / len(pieces) for parts in zip(*results, strict=True))
    return E - lr * dE, U - lr * dU, loss

# %% mean-of-means / gradient
def step(E, U, pieces, lr, pad=0):
    results = [loss_and_grad(E, U, tokens, pad)[1:] for tokens in pieces]
    dE, dU = (sum(parts) / len(pieces) for parts in zip(*results, strict=True))
    return E - lr * dE, U - lr * dU, _mean(*_sums(E, U, pieces, pad))[0]

# %% mean-of-means / that-count
def step(E, U, pieces, lr, pad=0):
    some = [tokens for tokens in pieces if _divisor(tokens, pad)]
    results = [loss_and_grad(E, U, tokens, pad) for tokens in some]
    if not results:
        return E.copy(), U.copy(), 0.0
    loss, dE, dU = (sum(parts) / len(some) for parts in zip(*results, strict=True))
    return E - lr * dE, U - lr * dU, loss

# %% mean-of-means / nan-where-none-counts
def _mean(loss, dE, dU, count):
    with np.errstate(invalid="ignore"):
        return np.float64(loss) / count, dE / count, dU / count

def step(E, U, pieces, lr, pad=0):
    results = [loss_and_grad(E, U, tokens, pad) for tokens in pieces]
    loss, dE, dU = (sum(parts) / len(pieces) for parts in zip(*results, strict=True))
    return E - lr * dE, U - lr * dU, loss

# %% weights-of-pieces
# killed_by: accumulate
"""Your step weights the means of the pieces by their numbers of rows or of positions, so padding
has a share in the weights. Add up sums and counted predictions over the pieces, and divide once."""

def step(E, U, pieces, lr, pad=0):
    weights = [len(tokens) for tokens in pieces]
    loss, dE, dU = 0.0, np.zeros_like(E), np.zeros_like(U)
    for weight, tokens in zip(weights, pieces, strict=True):
        of_piece = loss_and_grad(E, U, tokens, pad)
        share = weight / sum(weights)
        loss, dE, dU = (a + share * b for a, b in zip((loss, dE, dU), of_piece, strict=True))
    return E - lr * dE, U - lr * dU, loss

# %% weights-of-pieces / weights-by-positions
def step(E, U, pieces, lr, pad=0):
    weights = [max(tokens[:, 1:].size, 1e-300) for tokens in pieces]
    loss, dE, dU = 0.0, np.zeros_like(E), np.zeros_like(U)
    for weight, tokens in zip(weights, pieces, strict=True):
        of_piece = loss_and_grad(E, U, tokens, pad)
        share = weight / sum(weights)
        loss, dE, dU = (a + share * b for a, b in zip((loss, dE, dU), of_piece, strict=True))
    return E - lr * dE, U - lr * dU, loss

# %% loss-after-the-step
# killed_by: accumulate
"""The loss that step returns is that of the new weights, at the price of one more forward pass.
What is asked for is the loss whose gradient made the step."""

_before = step

def step(E, U, pieces, lr, pad=0):
    E, U, _ = _before(E, U, pieces, lr, pad)
    return E, U, _before(E, U, pieces, lr, pad)[2]

def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for start in range(0, len(pieces), accumulate):
        E, U, loss = step(E, U, pieces[start : start + accumulate], lr, pad)
        losses.append(loss)
    return E, U, losses

# %% sum-of-means
# killed_by: accumulate
"""Your step adds the gradients of the pieces' means, so it grows with the number of pieces. Add up
sums and counts over the pieces, and divide once."""

def step(E, U, pieces, lr, pad=0):
    results = [loss_and_grad(E, U, tokens, pad) for tokens in pieces]
    loss, dE, dU = (sum(parts) for parts in zip(*results, strict=True))
    return E - lr * dE, U - lr * dU, loss / len(pieces)

# %% sum-of-means / throughout
def step(E, U, pieces, lr, pad=0):
    results = [loss_and_grad(E, U, tokens, pad) for tokens in pieces]
    loss, dE, dU = (sum(parts) for parts in zip(*results, strict=True))
    return E - lr * dE, U - lr * dU, loss

# %% sum-of-means / right-loss
def step(E, U, pieces, lr, pad=0):
    results = [loss_and_grad(E, U, tokens, pad)[1:] for tokens in pieces]
    dE, dU = (sum(parts) for parts in zip(*results, strict=True))
    return E - lr * dE, U - lr * dU, _mean(*_sums(E, U, pieces, pad))[0]

# %% divided-twice
# killed_by: accumulate
"""Your step is the right one divided by the number of pieces. The sum over all pieces, divided by
the total count, is the mean already. Usually the division for accumulation is left from a version
that averaged means."""

def step(E, U, pieces, lr, pad=0):
    loss, dE, dU = _mean(*_sums(E, U, pieces, pad))
    return E - lr * dE / len(pieces), U - lr * dU / len(pieces), loss

# %% divided-twice / throughout
def step(E, U, pieces, lr, pad=0):
    loss, dE, dU = _mean(*_sums(E, U, pieces, pad))
    k = len(pieces)
    return E - lr * dE / k, U - lr * dU / k, loss / k

# %% step-per-piece
# killed_by: accumulate
"""Your step updates the weights after each piece, so later pieces see other weights. Accumulate
over all pieces first, then update once."""

def step(E, U, pieces, lr, pad=0):
    losses = []
    for tokens in pieces:
        loss, dE, dU = loss_and_grad(E, U, tokens, pad)
        E, U = E - lr * dE, U - lr * dU
        losses.append(loss)
    return E, U, sum(losses) / len(losses)

# %% step-per-piece / share
def step(E, U, pieces, lr, pad=0):
    total = max(sum(_divisor(tokens, pad) for tokens in pieces), 1)
    collected = 0.0
    for tokens in pieces:
        loss, dE, dU, _ = _sums(E, U, [tokens], pad)
        E, U = E - lr * dE / total, U - lr * dU / total
        collected += loss / total
    return E, U, collected

# %% step-per-piece / right-loss
def step(E, U, pieces, lr, pad=0):
    before = _mean(*_sums(E, U, pieces, pad))[0]
    for tokens in pieces:
        _, dE, dU = loss_and_grad(E, U, tokens, pad)
        E, U = E - lr * dE, U - lr * dU
    return E, U, before

# %% last-piece-only
# killed_by: accumulate
"""Only the last piece's gradient reaches your update. Usually each piece's gradient is assigned
where it should be added to what is there."""

def step(E, U, pieces, lr, pad=0):
    loss, _, _, count = _sums(E, U, pieces, pad)
    _, dE, dU, _ = _sums(E, U, pieces[-1:], pad)
    loss, dE, dU = _mean(loss, dE, dU, count)
    return E - lr * dE, U - lr * dU, loss

# %% last-piece-only / mean
def step(E, U, pieces, lr, pad=0):
    loss = _mean(*_sums(E, U, pieces, pad))[0]
    _, dE, dU = loss_and_grad(E, U, pieces[-1], pad)
    return E - lr * dE, U - lr * dU, loss

# %% pad-not-handed-on
# killed_by: accumulate
"""Your step takes 0 for padding, whatever pad says, though loss_and_grad obeys it. Hand pad on."""

def step(E, U, pieces, lr, pad=0):
    loss, dE, dU = _mean(*_sums(E, U, pieces, 0))
    return E - lr * dE, U - lr * dU, loss

# %% gradient-carried-over
# killed_by: training
"""In train the gradient of one group is still there in the next, so each step has the earlier
groups in it. A single step is right. Clear the sum once per step, before its first piece."""

def train(E, U, pieces, lr, accumulate, pad=0):
    losses, sum_dE, sum_dU = [], np.zeros_like(E), np.zeros_like(U)
    for start in range(0, len(pieces), accumulate):
        loss, dE, dU = _mean(*_sums(E, U, pieces[start : start + accumulate], pad))
        sum_dE, sum_dU = sum_dE + dE, sum_dU + dU
        E, U = E - lr * sum_dE, U - lr * sum_dU
        losses.append(loss)
    return E, U, losses

# %% gradient-carried-over / sums
def train(E, U, pieces, lr, accumulate, pad=0):
    losses, sum_dE, sum_dU = [], np.zeros_like(E), np.zeros_like(U)
    for start in range(0, len(pieces), accumulate):
        loss, dE, dU, count = _sums(E, U, pieces[start : start + accumulate], pad)
        sum_dE, sum_dU = sum_dE + dE, sum_dU + dU
        loss, dE, dU = _mean(loss, sum_dE, sum_dU, count)
        E, U = E - lr * dE, U - lr * dU
        losses.append(loss)
    return E, U, losses

# %% gradient-carried-over / with-counts
def train(E, U, pieces, lr, accumulate, pad=0):
    losses, sum_dE, sum_dU, counts = [], np.zeros_like(E), np.zeros_like(U), 0
    for start in range(0, len(pieces), accumulate):
        loss, dE, dU, count = _sums(E, U, pieces[start : start + accumulate], pad)
        sum_dE, sum_dU, counts = sum_dE + dE, sum_dU + dU, counts + count
        losses.append(_mean(loss, dE, dU, count)[0])
        _, dE, dU = _mean(0.0, sum_dE, sum_dU, counts)
        E, U = E - lr * dE, U - lr * dU
    return E, U, losses

# %% pad-lost-in-train
# killed_by: training
"""Your train takes 0 for padding, whatever pad says, though step obeys it. Hand pad on."""

_with_pad = train

def train(E, U, pieces, lr, accumulate, pad=0):
    return _with_pad(E, U, pieces, lr, accumulate)

# %% starts-anew
# killed_by: training
"""Each group of yours starts from the weights that train was given, so the result has a single step
in it, that of the last group. Go on from the weights that the group before left."""

def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for start in range(0, len(pieces), accumulate):
        E_new, U_new, loss = step(E, U, pieces[start : start + accumulate], lr, pad)
        losses.append(loss)
    return E_new, U_new, losses

# %% short-group-scaled
# killed_by: training
"""The step of the last group, which has fewer pieces, is scaled by its share of `accumulate`. Its
mean is over its own predictions and needs no other divisor. Usually every piece's gradient is
divided by `accumulate`."""

def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for start in range(0, len(pieces), accumulate):
        group = pieces[start : start + accumulate]
        E, U, loss = step(E, U, group, lr * len(group) / accumulate, pad)
        losses.append(loss)
    return E, U, losses

# %% last-group-dropped
# killed_by: training
"""The pieces left over at the end, fewer than `accumulate`, are never used. A smaller group is a
batch too; its mean is over its own predictions."""

def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for number in range(len(pieces) // accumulate):
        group = pieces[number * accumulate : (number + 1) * accumulate]
        E, U, loss = step(E, U, group, lr, pad)
        losses.append(loss)
    return E, U, losses

# %% divides-by-nothing
# killed_by: nothing
"""Where nothing counts you divide by a count of 0. numpy's numbers make that NaN, which spreads to
all weights; Python's raise ZeroDivisionError. The contract asks for a loss of 0.0 and no change."""

def _mean(loss, dE, dU, count):
    with np.errstate(invalid="ignore"):
        return np.float64(loss) / count, dE / count, dU / count

# %% divides-by-nothing / raises
def _mean(loss, dE, dU, count):
    return float(loss) / int(count), dE / count, dU / count

# %% empty-piece-nan
# killed_by: empty-piece
"""One piece in which nothing counts makes the whole step NaN. Usually the means of the pieces are
weighted by their counts; the mean of nothing is 0 / 0, and NaN times a weight of 0 is still NaN.
Add up sums, and divide once."""

def step(E, U, pieces, lr, pad=0):
    counts = [_divisor(tokens, pad) for tokens in pieces]
    loss, dE, dU = 0.0, np.zeros_like(E), np.zeros_like(U)
    for tokens, count in zip(pieces, counts, strict=True):
        part, part_dE, part_dU, _ = _sums(E, U, [tokens], pad)
        weight = count / max(sum(counts), 1)
        if sum(counts):
            with np.errstate(invalid="ignore"):
                loss += weight * (np.float64(part) / count)
                dE += weight * (part_dE / count)
                dU += weight * (part_dU / count)
    return E - lr * dE, U - lr * dU, loss

# %% empty-group-left-out
# killed_by: empty-group
"""Where nothing counts in a group, your list of losses has no element for it, so later losses move
up and no longer belong to their groups. The contract gives such a group the loss 0.0."""

def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for start in range(0, len(pieces), accumulate):
        group = pieces[start : start + accumulate]
        if sum(_divisor(tokens, pad) for tokens in group):
            E, U, loss = step(E, U, group, lr, pad)
            losses.append(loss)
    return E, U, losses

# %% updates-in-place
# killed_by: accumulate
"""step changes the caller's own E and U. Whoever still holds the old weights (an average of
weights, a second run for comparison) finds them changed. Usually this is E -= lr * dE; return E -
lr * dE, a new array."""

def step(E, U, pieces, lr, pad=0):
    loss, dE, dU = _mean(*_sums(E, U, pieces, pad))
    E -= lr * dE
    U -= lr * dU
    return E, U, loss

# %% updates-in-place / and-returns-copies
def step(E, U, pieces, lr, pad=0):
    loss, dE, dU = _mean(*_sums(E, U, pieces, pad))
    E -= lr * dE
    U -= lr * dU
    return E.copy(), U.copy(), loss

# %% rank-local-mean
# killed_by: ranks
"""Each machine hands in the gradient of its own mean, and the average of these is a mean of means:
a prediction on a machine with few of them weighs more. Divide each machine's sum by the total count
and multiply it by the number of machines, because the all-reduce divides by that."""

def rank_gradient(E, U, tokens, counts, pad=0):
    return loss_and_grad(E, U, tokens, pad)[1:]

# %% rank-forgets-world
# killed_by: ranks
"""Each machine divides its sum by the total count, which would be right if the all-reduce added. It
averages, so the step is too small by the number of machines. Multiply by it."""

def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU, _ = _sums(E, U, [tokens], pad)
    return dE / sum(counts), dU / sum(counts)

# %% rank-sum-undivided
# killed_by: ranks
"""Each machine hands in its sum, and the average of these is the sum over all predictions divided
by the number of machines. What is wanted is that sum divided by the total count."""

def rank_gradient(E, U, tokens, counts, pad=0):
    return _sums(E, U, [tokens], pad)[1:3]

# %% rank-mean-times-world
# killed_by: ranks
"""Each machine hands in the gradient of its own mean times the number of machines, so the average
is the sum of the machines' means. The factor is right where a machine's sum has been divided by the
count of all of them."""

def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU = loss_and_grad(E, U, tokens, pad)
    return len(counts) * dE, len(counts) * dU

# %% empty-rank-nan
# killed_by: empty-rank
"""One machine on which nothing counts makes the gradient of all of them NaN. Usually its own mean
is formed first and then weighted by its count; the mean of nothing is 0 / 0, and NaN times a weight
of 0 is still NaN. Scale the sum."""

def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU, own = _sums(E, U, [tokens], pad)
    weight = own * len(counts) / sum(counts)
    with np.errstate(invalid="ignore"):
        return weight * (dE / own), weight * (dU / own)

# %% last-chunk-dropped
# killed_by: chunks
# parameters: {CHUNK: [16, 32, 64]}
"""Of a piece with more than {CHUNK} counted predictions yours takes whole chunks of {CHUNK} only,
and leaves out the rest. The count has them, the sums do not. The last chunk may be shorter than the
others."""

CHUNK = 16

def _sums(E, U, pieces, pad):
    loss, dE, dU, count = 0.0, np.zeros_like(E), np.zeros_like(U), 0
    for tokens in pieces:
        inputs, targets = _predictions(tokens, pad)
        whole = len(targets) // CHUNK * CHUNK or len(targets)
        for start in range(0, whole, CHUNK):
            chunk = slice(start, start + CHUNK)
            loss += _add_chunk(E, U, inputs[chunk], targets[chunk], dE, dU)
        count += len(targets)
    return loss, dE, dU, count

# %% last-chunk-only
# killed_by: chunks
# parameters: {CHUNK: [16, 32, 64]}
"""Of a piece with more than {CHUNK} counted predictions the last {CHUNK} or fewer are all that is
left in a gradient. Usually a chunk's product is assigned where it should be added."""

CHUNK = 16

def _sums(E, U, pieces, pad):
    loss, dE, dU, count = 0.0, np.zeros_like(E), np.zeros_like(U), 0
    for tokens in pieces:
        inputs, targets = _predictions(tokens, pad)
        piece_dE, piece_dU = np.zeros_like(E), np.zeros_like(U)
        for start in range(0, len(targets), CHUNK):
            chunk = slice(start, start + CHUNK)
            piece_dE, piece_dU = np.zeros_like(E), np.zeros_like(U)
            loss += _add_chunk(E, U, inputs[chunk], targets[chunk], piece_dE, piece_dU)
        dE += piece_dE
        dU += piece_dU
        count += len(targets)
    return loss, dE, dU, count

# %% last-chunk-only / in-U
CHUNK = 16

def _sums(E, U, pieces, pad):
    loss, dE, dU, count = 0.0, np.zeros_like(E), np.zeros_like(U), 0
    for tokens in pieces:
        inputs, targets = _predictions(tokens, pad)
        piece_dU = np.zeros_like(U)
        for start in range(0, len(targets), CHUNK):
            chunk = slice(start, start + CHUNK)
            piece_dU = np.zeros_like(U)
            loss += _add_chunk(E, U, inputs[chunk], targets[chunk], dE, piece_dU)
        dU += piece_dU
        count += len(targets)
    return loss, dE, dU, count
