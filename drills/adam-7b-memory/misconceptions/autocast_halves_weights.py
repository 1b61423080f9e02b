"""autocast turns the module into bf16 and keeps an fp32 master copy of it."""

RECIPES = {**RECIPES, "torch_autocast": (2, 2, 4, 4, 4)}
