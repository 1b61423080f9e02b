"""autocast turns the weights and their gradients into bf16."""

RECIPES = {**RECIPES, "torch_autocast": (2, 2, 4, 4, 0)}
