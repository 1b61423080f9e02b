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
    def __call__(self, n_params, gpu_bytes, stage=3):
        whole, split = self.split(n_params, stage)
        if whole + split <= gpu_bytes:
            return 1
        if whole >= gpu_bytes or not split:
            return None
        return (split + gpu_bytes - whole - 1) // (gpu_bytes - whole)


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
