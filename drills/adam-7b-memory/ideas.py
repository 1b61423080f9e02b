# %% no-master-copy
# killed_by: mixed
"""In bf16_mixed you count four tensors, 12 bytes per parameter. If updates were added to the bf16
weights, most would be lost: bf16 has 8 significant bits, and 1 - 0.001 is 1 again. Something in
fp32 has to collect them."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 2, 4, 4, 0)}

# %% everything-bf16
# killed_by: mixed
"""In bf16_mixed you count 8 bytes per parameter, all bf16. The optimizer of this recipe keeps
nothing in bf16. (You describe another of the three.)"""

RECIPES = {**RECIPES, "bf16_mixed": (2, 2, 2, 2, 0)}

# %% bf16-master
# killed_by: mixed
"""In bf16_mixed your fifth tensor has 2 bytes per parameter. It is there for the digits that bf16
does not have: with 8 significant bits 1 - 0.001 rounds back to 1, and small updates are lost. What
collects them is fp32, 4 bytes."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 2, 4, 4, 2)}

# %% bf16-moments
# killed_by: mixed
"""In bf16_mixed your two moments have 2 bytes per parameter each. In this recipe Adam runs in fp32,
so exp_avg and exp_avg_sq take 4 bytes per parameter each. Your total is one that several wrong
counts share, which is why the tensors are asked for."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 2, 2, 2, 4)}

# %% one-moment
# killed_by: mixed
"""In bf16_mixed one of your two moments has no bytes. Adam keeps two running averages for each
parameter, exp_avg of the gradient and exp_avg_sq of its square, and in this recipe both are fp32: 4
+ 4 bytes. SGD with momentum keeps one."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 2, 4, 0, 4)}

# %% one-moment / squares
RECIPES = {**RECIPES, "bf16_mixed": (2, 2, 0, 4, 4)}

# %% fp32-grads
# killed_by: mixed
"""In bf16_mixed your gradients have 4 bytes per parameter, which makes 18 in all. There are
variants of the recipe that hold gradients in fp32; here the backward pass leaves bf16 ones, 2 bytes
per parameter."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 4, 4, 4, 4)}

# %% forgot-grads
# killed_by: mixed
"""In bf16_mixed your gradients have no bytes. Every parameter's gradient is alive from the backward
pass until the optimizer has used it, so at the optimizer step they are all there: 2 bytes per
parameter."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 0, 4, 4, 4)}

# %% all-fp32-right-total
# killed_by: mixed
"""In bf16_mixed you count four tensors of 4 bytes. 4 + 4 + 4 + 4 also makes 16 bytes per parameter,
but in this recipe weights and gradients are bf16, 2 + 2, and the other 12 are three fp32 tensors
that the optimizer carries. (Four fp32 tensors are an fp32 module.)"""

RECIPES = {**RECIPES, "bf16_mixed": (4, 4, 4, 4, 0)}

# %% fp32-plus-master
# killed_by: mixed
"""In bf16_mixed you count fp32 weights and an fp32 copy of them. A copy exists only because the
weights that the model computes with are bf16; next to fp32 weights it would be a duplicate. Weights
and gradients are 2 bytes per parameter each here."""

RECIPES = {**RECIPES, "bf16_mixed": (4, 4, 4, 4, 4)}

# %% fp32-plus-master / fp32-weights-plus-master
RECIPES = {**RECIPES, "bf16_mixed": (4, 2, 4, 4, 4)}

# %% weights-only
# killed_by: mixed
"""In bf16_mixed you count the weights alone, which is what inference needs. Training also holds a
gradient for each parameter and whatever the optimizer carries from step to step."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 0, 0, 0, 0)}

# %% copy-in-weights
# killed_by: mixed
"""In bf16_mixed your entry weights holds 6 bytes per parameter, which no single tensor does. Give
each tensor a name of its own."""

RECIPES = {**RECIPES, "bf16_mixed": (2 + 4, 2, 4, 4, 0)}

# %% recipe-ignored
# killed_by: [pure-bf16, autocast]
"""Both PyTorch recipes get the bytes of bf16_mixed. One is a module of bf16 throughout, the other
an fp32 module under autocast, and plain PyTorch keeps no second copy of the weights for either.
Usually the argument recipe is not used, or all names lead to one table."""

RECIPES = {name: RECIPES["bf16_mixed"] for name in RECIPES}

# %% torch-upcasts-moments
# killed_by: pure-bf16
"""In torch_pure_bf16 your moments have 4 bytes per parameter each. torch.optim.AdamW makes them
with torch.zeros_like(param): they have the dtype of the parameter, bf16, with the numerical trouble
that comes with it."""

RECIPES = {**RECIPES, "torch_pure_bf16": (2, 2, 4, 4, 0)}

# %% torch-makes-a-master
# killed_by: pure-bf16
"""You gave plain PyTorch the mixed recipe: torch_pure_bf16 has fp32 moments and an fp32 copy of the
weights. torch.optim knows no second copy of the weights, and its moments have the dtype of the
parameter."""

RECIPES = {**RECIPES, "torch_pure_bf16": (2, 2, 4, 4, 4)}

# %% autocast-halves-weights
# killed_by: autocast
"""In torch_autocast your weights have 2 bytes per parameter. Autocast converts the inputs of single
operations; parameters, .grad and the optimizer's state stay fp32, and fp32 weights need no second
copy."""

RECIPES = {**RECIPES, "torch_autocast": (2, 2, 4, 4, 4)}

# %% autocast-halves-weights / autocast-halves-without-master
RECIPES = {**RECIPES, "torch_autocast": (2, 2, 4, 4, 0)}

# %% autocast-halves-weights / autocast-keeps-a-copy
RECIPES = {**RECIPES, "torch_autocast": (2, 4, 4, 4, 4)}

# %% gib-called-gb
# killed_by: units
"""Your GB is 2**30 bytes. That unit is the GiB. 112e9 bytes are 112 GB and 104.3 GiB."""

def to_gb(nbytes):
    return nbytes / 1024**3

# %% gb-called-gib
# killed_by: units
"""Your GiB is 10**9 bytes. That unit is the GB; a GiB is 2**30 bytes, 7.4 % more. If your GB is
wrong too, the two units are in each other's place. 112e9 bytes are 112 GB and 104.3 GiB. Monitoring
tools count in GiB or MiB, labels and prices in GB."""

def to_gib(nbytes):
    return nbytes / 10**9

# %% gb-called-gib / units-exchanged
def to_gb(nbytes):
    return nbytes / 2**30

def to_gib(nbytes):
    return nbytes / 10**9

# %% mixed-units-compared
# killed_by: fits
"""Your fits is wrong near the limit, by about as much as GB and GiB, or a MiB and a million bytes,
are apart: 5 to 7 %. Usually the two sides of the comparison have different units. Compare bytes
with bytes."""

def fits(n_params, recipe, card_mib):
    return to_gb(training_state(n_params, recipe)["total"]) <= card_mib / 1024

# %% mixed-units-compared / label
def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 10**6

# %% mixed-units-compared / reversed
def fits(n_params, recipe, card_mib):
    return to_gib(training_state(n_params, recipe)["total"]) <= to_gb(card_mib * MIB)

# %% full-card-refused-by-fits
# killed_by: fits
"""Your fits says no where the state fills the card to the byte. At most what the card has means <=,
not <."""

def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] < card_mib * MIB

# %% both-gradients
# killed_by: fp32grad
"""In bf16_mixed_fp32grad your gradients have 6 bytes per parameter, as one in bf16 and one in fp32
have together. In this recipe the fp32 buffer holds the gradients instead of bf16 ones: 4 bytes per
parameter. (A bf16 gradient that exists for the moment it takes to add it to the buffer is a
temporary.)"""

RECIPES = {**RECIPES, "bf16_mixed_fp32grad": (2, 2 + 4, 4, 4, 4)}

# %% fp32-gradients-for-the-master
# killed_by: fp32grad
"""In bf16_mixed_fp32grad you count no fp32 copy of the weights. The recipe is bf16_mixed with
gradients of 4 bytes, and nothing else changes: an fp32 gradient does not help a bf16 weight that
has no digits left to add it to."""

RECIPES = {**RECIPES, "bf16_mixed_fp32grad": (2, 4, 4, 4, 0)}

# %% fp32-weights-without-master
# killed_by: no-master
"""In bf16_no_master your weights have 4 bytes per parameter. This recipe leaves the copy out and
changes nothing else: weights stay at 2 bytes, and each update is rounded into them. That loses
small updates, which is its price."""

RECIPES = {**RECIPES, "bf16_no_master": (4, 2, 4, 4, 0)}

# %% fp32-weights-without-master / fp32-module-without-master
RECIPES = {**RECIPES, "bf16_no_master": (4, 4, 4, 4, 0)}

# %% no-master-changes-more
# killed_by: no-master
"""In bf16_no_master more changes than the copy of the weights: your moments have 2 bytes per
parameter each, or your gradients 4. This recipe leaves the copy out and nothing else. The optimizer
still works in fp32, with moments of 4 bytes, and gets bf16 gradients of 2; only what it updates is
the bf16 weights."""

RECIPES = {**RECIPES, "bf16_no_master": (2, 2, 2, 2, 0)}

# %% no-master-changes-more / no-master-gradients-too
RECIPES = {**RECIPES, "bf16_no_master": (2, 4, 4, 4, 0)}

# %% zero1-shards-everything
# killed_by: zero
"""The whole state is divided by the number of GPUs at every stage that shards. Stage 1 shards the
optimizer state only (12 of the 16 bytes per parameter); weights and gradients, 4 bytes, stay whole
on each GPU. Stage 2 also shards the gradients, and only stage 3 the weights too. Stage 0 shards
nothing."""

def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _zero_bytes(n_params, stage)
    return whole + split if stage == 0 else (whole + split) / world

# %% zero1-shards-everything / zero0-shards-everything
def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _zero_bytes(n_params, stage)
    return (whole + split) / world

# %% zero1-shards-everything / zero1-shards-8-bytes
def zero_bytes_per_gpu(n_params, stage, world):
    return 8 * n_params if stage == 0 else 8 * n_params / world

# %% zero3-optimizer-only
# killed_by: zero
"""A later stage still holds whole on each GPU what it should shard. Stage 1 shards the optimizer
state, stage 2 also the gradients, and stage 3 also the weights, so that nothing is left whole: 16
bytes per parameter divided by the number of GPUs."""

def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _zero_bytes(n_params, 1 if stage in (2, 3) else stage)
    return whole + split / world

# %% zero3-optimizer-only / zero3-like-stage-1
def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _zero_bytes(n_params, 1 if stage == 3 else stage)
    return whole + split / world

# %% zero3-optimizer-only / zero3-like-stage-2
def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _zero_bytes(n_params, 2 if stage == 3 else stage)
    return whole + split / world

# %% master-left-whole
# killed_by: zero
"""4 bytes per parameter too many stay whole on each GPU at a stage that shards the optimizer state,
as much as the fp32 copy of the weights takes. The copy is optimizer state: stage 1 shards it with
both moments, 12 of the 16 bytes per parameter, and leaves 2 + 2 whole."""

def _zero_bytes(n_params, stage):
    whole, split = ZERO[stage]
    if stage in (1, 2):
        whole, split = whole + 4, split - 4
    return whole * n_params, split * n_params

# %% master-left-whole / throughout
def _zero_bytes(n_params, stage):
    whole, split = ZERO[stage]
    if stage:
        whole, split = whole + 4, split - 4
    return whole * n_params, split * n_params

# %% master-left-whole / at-stage-1
def _zero_bytes(n_params, stage):
    whole, split = ZERO[stage]
    if stage == 1:
        whole, split = whole + 4, split - 4
    return whole * n_params, split * n_params

# %% stage-2-gradients-only
# killed_by: zero
"""Your stage 2 shards 2 bytes per parameter, as much as the gradients take, and no longer the
optimizer state. Each stage adds to the one before: 1 shards the optimizer state, 2 the optimizer
state and the gradients, 3 these and the weights."""

ZERO = {**ZERO, 2: (14, 2)}

# %% stage-2-gradients-only / and-3-weights
ZERO = {**ZERO, 2: (14, 2), 3: (14, 2)}

# %% gradients-before-optimizer
# killed_by: zero
"""Your stage 1 shards 2 bytes per parameter, as much as the gradients take, and leaves 14 whole.
The paper begins with the optimizer state, the largest part: stage 1 shards 12 and leaves 4."""

ZERO = {**ZERO, 1: (14, 2)}

# %% stages-one-too-far
# killed_by: zero
"""Your stage 1 shards the gradients as well, and your stage 2 the weights: each stage is the next
one. Stage 1 shards the optimizer state alone, stage 2 adds the gradients and stage 3 the weights.
"""

ZERO = {0: (16, 0), 1: (2, 14), 2: (0, 16), 3: (0, 16)}

# %% total-over-card
# killed_by: gpus
"""The whole state is divided by what one card may hold. That is right at stage 3 only. Below it a
part of the state is whole on each GPU (4 bytes per parameter at stage 1, 2 at stage 2, all 16 at
stage 0) and only the rest gets smaller with more GPUs. Take that part off the card first; when no
room is left, no number of GPUs is enough."""

def min_gpus(n_params, usable_bytes, stage=3):
    total = sum(_zero_bytes(n_params, stage))
    if stage == 0:
        return 1 if total <= usable_bytes else None
    return max(1, -(-total // usable_bytes))

# %% total-over-card / any-stage
def min_gpus(n_params, usable_bytes, stage=3):
    return max(1, -(-sum(_zero_bytes(n_params, stage)) // usable_bytes))

# %% rounds-down
# killed_by: gpus
"""Your number of GPUs is one too small: with it, each holds more than usable_bytes. Round the
quotient up."""

_rounded_up = min_gpus

def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _zero_bytes(n_params, stage)
    if split == 0 or usable_bytes <= whole:
        return _rounded_up(n_params, usable_bytes, stage)
    return max(1, split // (usable_bytes - whole))

# %% rounds-down / to-zero
_rounded_up = min_gpus

def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _zero_bytes(n_params, stage)
    if split == 0 or usable_bytes <= whole:
        return _rounded_up(n_params, usable_bytes, stage)
    return split // (usable_bytes - whole)

# %% room-not-checked
# killed_by: gpus
"""Where what each GPU holds whole is more than usable_bytes, you give a number although no number
is enough. Usually the quotient split / (usable_bytes - whole) is taken before anybody asks whether
room is left. Without room the answer is None."""

def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _zero_bytes(n_params, stage)
    if split == 0:
        return 1 if whole <= usable_bytes else None
    return max(1, -(-split // (usable_bytes - whole)))

# %% room-not-checked / negative
def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _zero_bytes(n_params, stage)
    if split == 0:
        return 1 if whole <= usable_bytes else None
    return -(-split // (usable_bytes - whole))

# %% full-card-refused
# killed_by: gpus
"""Where some number of GPUs would be filled to the byte, you ask for one more, or say that none is
enough. At most usable_bytes means <=: round split / room up, which leaves a whole quotient as it
is."""

def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _zero_bytes(n_params, stage)
    room = usable_bytes - whole
    if split == 0:
        return 1 if room > 0 else None
    return split // room + 1 if room > 0 else None

# %% full-card-refused / when-sharded
def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _zero_bytes(n_params, stage)
    room = usable_bytes - whole
    if split == 0:
        return 1 if room >= 0 else None
    return split // room + 1 if room > 0 else None

# %% other-default-stage
# killed_by: default-stage
# parameters: {STAGE: [0, 1, 2]}
"""Where no stage is given, your plan is for stage {STAGE}. The interface says stage=3: full
sharding is planned for unless somebody asks for less."""

STAGE = 1

_gpus_at_a_stage = min_gpus

def min_gpus(n_params, usable_bytes, stage=None):
    return _gpus_at_a_stage(n_params, usable_bytes, STAGE if stage is None else stage)

# %% fsdp-as-paper
# killed_by: fsdp
"""Your shards add up to the right total, and their parts are the paper's. FSDP2 shards the
parameters in the dtype the module has, fp32; bf16 exists only while a unit is gathered. Its
gradients are fp32 as well after the reduction, and the fp32 shards need no copy."""

def fsdp_bytes(model, world):
    widths = {"weights": 2, "grads": 2, "exp_avg": 4, "exp_avg_sq": 4, "master": 4}
    parts = {part: width * model["params"] / world for part, width in widths.items()}
    return {**parts, "gathered": GATHERED * model["largest_unit"]}

# %% fsdp-with-a-master
# killed_by: fsdp
"""Your FSDP2 plan has 4 bytes per parameter more, as much as a separate fp32 copy of the weights.
The shards are fp32 already and are what AdamW updates; bf16 is made from them when a unit is
gathered."""

_without_a_copy = fsdp_bytes

def fsdp_bytes(model, world):
    return {**_without_a_copy(model, world), "master": FP32 * model["params"] / world}

# %% gathered-forgotten
# killed_by: fsdp
"""Your "gathered" is 0. Sharding leaves params / world elements on each GPU between uses. During
use units are whole: count two in bf16, and one's gradient twice."""

GATHERED = 0

# %% gathered-whole-model
# killed_by: fsdp
"""Your "gathered" is the whole model in bf16. Units are gathered one after the other and freed
again, which is what sharding is for: count two units in bf16, and one's gradient twice."""

def fsdp_bytes(model, world):
    parts = {part: width * model["params"] / world for part, width in SHARDED.items()}
    return {**parts, "gathered": BF16 * model["params"]}

# %% gathered-one-unit
# killed_by: fsdp
"""Your "gathered" is 8 bytes per parameter of the largest unit, as one unit in bf16 and its
gradient in both dtypes have. While that unit is in use, the next one is already whole: count two in
bf16."""

GATHERED = 2 + 2 + 4

# %% one-tensor-per-layer
# killed_by: activations
"""You count one bf16 tensor of width d per layer. A layer keeps many times that, 19 times for
Llama-2 7B: go through the list."""

def _layer(model):
    return BF16 * model["d"]

# %% kv-as-wide-as-q
# killed_by: activations
"""Your k and v are as wide as q. They are kv_heads / heads as wide."""

def _key_width(model):
    return model["d"]

# %% hidden-tensors-short
# killed_by: activations
# parameters: {TENSORS: [1, 2, 3]}
"""Your layer is short of the list by tensors of width f: it keeps {TENSORS} of them where the list
has g, u, silu(g) and their product."""

TENSORS = 2

_all_four = _layer

def _layer(model):
    return _all_four(model) - BF16 * (4 - TENSORS) * model["f"]

# %% logits-forgotten
# killed_by: activations
"""Your head keeps nothing as wide as the vocabulary. When the backward pass begins, three fp32
tensors of that width are alive, 12 bytes per token and element of the vocabulary. With 128,256 of
them that is 1.5 MB per token."""

def _head(model):
    return 2 * BF16 * model["d"] + FP32

# %% head-short-of-tensors
# killed_by: activations
# parameters: {BYTES: [4, 6, 8]}
"""Your head has {BYTES} bytes per token and element of the vocabulary where there are 12.
log_softmax keeps the log-probabilities in fp32. Its backward is handed their gradient and makes
that of the logits, both fp32, and the log-probabilities are freed only when it returns. Measure it:
torch.cuda.max_memory_allocated."""

BYTES = 8

def _head(model):
    return 2 * BF16 * model["d"] + FP32 + BYTES * model["vocab"]

# %% logits-held
# killed_by: activations
"""Your head has 16 bytes per token and element of the vocabulary, as it would if a name held the
fp32 logits through the backward pass. log_softmax keeps its output and not its input, so here they
are freed: log-probabilities, their gradient and that of the logits remain, 12 bytes."""

def _head(model):
    return 2 * BF16 * model["d"] + FP32 + 4 * FP32 * model["vocab"]

# %% checkpoint-sqrt
# killed_by: activations
"""With checkpointing you keep the square root of the layers in full. That is another scheme; here
every layer keeps its input."""

import math

def _per_token(model, checkpoint):
    layers = math.ceil(math.sqrt(model["layers"])) if checkpoint else model["layers"]
    return layers * _layer(model) + _head(model)

# %% checkpoint-sqrt / rounded-down
import math

def _per_token(model, checkpoint):
    layers = math.isqrt(model["layers"]) if checkpoint else model["layers"]
    return layers * _layer(model) + _head(model)

# %% checkpoint-sqrt / unrounded
def _per_token(model, checkpoint):
    layers = model["layers"] ** 0.5 if checkpoint else model["layers"]
    return layers * _layer(model) + _head(model)

# %% checkpoint-keeps-nothing
# killed_by: activations
"""With checkpointing your layers keep nothing. Each still keeps its input, or it could not be
computed again."""

def _per_token(model, checkpoint):
    if checkpoint:
        return max(_head(model), _layer(model))
    return model["layers"] * _layer(model) + _head(model)

# %% both-moments-at-once
# killed_by: activations
"""With checkpointing you add the head and the recomputed layer. The head is gone when layers are
recomputed: take the larger."""

def _per_token(model, checkpoint):
    if checkpoint:
        return model["layers"] * _kept(model) + _head(model) + _recomputed(model)
    return model["layers"] * _layer(model) + _head(model)

# %% recomputed-layer-forgotten
# killed_by: activations
"""With checkpointing you count the inputs of the layers and the head, and no other moment. While a
layer is recomputed, everything on its list is there: where that is more than the head, as in the
tiny model, it decides."""

def _recomputed(model):
    return 0

# %% recomputed-input-twice
# killed_by: activations
"""The input of the recomputed layer is counted twice: once as what the checkpoint keeps, once in
the layer's list."""

def _recomputed(model):
    return _layer(model)

# %% activations-sharded
# killed_by: tokens
"""Your tokens are `world` times too many. They are asked for per GPU, and each GPU holds the
activations of its own tokens: only the state is sharded."""

def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = _usable(card_mib, headroom) - sum(fsdp_bytes(model, world).values())
    return max(0, int(world * room // _per_token(model, checkpoint)))

# %% headroom-off-the-rest
# killed_by: tokens
"""You take the headroom off what is left after the state. It is a share of the card."""

def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    left = card_mib * MIB - sum(fsdp_bytes(model, world).values())
    return max(0, int((1 - headroom) * left // _per_token(model, checkpoint)))

# %% headroom-forgotten
# killed_by: tokens
"""You fill the whole card. The share `headroom` of it is kept free, a tenth if nothing else is
asked for."""

def _usable(card_mib, headroom):
    return card_mib * MIB

# %% card-label
# killed_by: tokens
"""You fill as much as if a MiB were a million bytes. A MiB is 2**20 bytes, 4.9 % more."""

def _usable(card_mib, headroom):
    return (1 - headroom) * card_mib * 10**6

# %% negative-tokens
# killed_by: tokens
"""Where the state alone is more than the card may hold, your number of tokens is negative. No room
means 0 tokens."""

def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = _usable(card_mib, headroom) - sum(fsdp_bytes(model, world).values())
    return int(room // _per_token(model, checkpoint))

# %% headroom-fixed
# killed_by: headroom
"""You keep a tenth of the card free, whatever headroom is. That is only its default."""

def _usable(card_mib, headroom):
    return 0.9 * card_mib * MIB
