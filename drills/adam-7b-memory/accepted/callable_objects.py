"""Instances with __call__ in the place of functions."""


class Planner:
    def __init__(self, **recipes):
        self.recipes = recipes

    def __call__(self, n_params, recipe):
        if recipe not in self.recipes:
            raise ValueError(recipe)
        plan = {}
        total = 0
        for part, width in self.recipes[recipe].items():
            plan[part] = n_params * width
            total += plan[part]
        plan["total"] = total
        return plan


class Unit:
    def __init__(self, size):
        self.size = size

    def __call__(self, nbytes):
        return nbytes / self.size


class Zero:
    WHOLE = [16, 4, 2, 0]

    def split(self, n_params, stage):
        if not (isinstance(stage, int) and 0 <= stage <= 3):
            raise ValueError(f"stage {stage}")
        return self.WHOLE[stage] * n_params, (16 - self.WHOLE[stage]) * n_params


class Share(Zero):
    def __call__(self, n_params, stage, world):
        whole, split = self.split(n_params, stage)
        return (whole * world + split) / world


class Count(Zero):
    def __call__(self, n_params, usable_bytes, stage=3):
        whole, split = self.split(n_params, stage)
        if whole + split <= usable_bytes:
            return 1
        if whole >= usable_bytes or not split:
            return None
        return (split + usable_bytes - whole - 1) // (usable_bytes - whole)


def _recipe(w, g, m, v, c):
    return {"weights": w, "grads": g, "exp_avg": m, "exp_avg_sq": v, "master": c}


training_state = Planner(
    bf16_mixed=_recipe(2, 2, 4, 4, 4),
    bf16_mixed_fp32grad=_recipe(2, 4, 4, 4, 4),
    bf16_no_master=_recipe(2, 2, 4, 4, 0),
    torch_pure_bf16=_recipe(2, 2, 2, 2, 0),
    torch_autocast=_recipe(4, 4, 4, 4, 0),
)
to_gb = Unit(1e9)
to_gib = Unit(2**30)
zero_bytes_per_gpu = Share()
min_gpus = Count()


class Fits:
    def __call__(self, n_params, recipe, card_mib):
        return card_mib * 1024 * 1024 >= training_state(n_params, recipe)["total"]


class Shards:
    def __call__(self, model, world):
        elements = model["params"] / world
        plan = {part: 4 * elements for part in ("weights", "grads", "exp_avg", "exp_avg_sq")}
        plan["gathered"] = 10 * model["largest_unit"]
        return plan


class Activations:
    """Each of the moments at which something is alive, and the worst of them."""

    def __call__(self, model, tokens, checkpoint):
        return tokens * max(self.moments(model, checkpoint))

    def moments(self, model, checkpoint):
        entry = 2 * model["d"]
        layer = self.layer(model)
        head = 4 * model["d"] + 4 + 4 * model["vocab"]
        kept = entry if checkpoint else layer
        yield model["layers"] * kept + head  # the forward pass is over
        yield model["layers"] * kept + head + 8 * model["vocab"]  # the backward pass begins
        for below in range(model["layers"]):
            yield below * kept + layer  # this layer's backward pass

    def layer(self, model):
        key = model["d"] / model["heads"] * model["kv_heads"]
        bf16 = 6 * model["d"] + 2 * key + 4 * model["f"]
        return 2 * bf16 + 4 * (2 + model["heads"])


class Tokens:
    def __call__(self, model, world, card_mib, checkpoint, headroom=0.1):
        card = card_mib * 2**20
        left = card - headroom * card - sum(fsdp_bytes(model, world).values())
        return max(left, 0) / activation_bytes(model, 1, checkpoint)


fits = Fits()
fsdp_bytes = Shards()
activation_bytes = Activations()
max_tokens = Tokens()
