"""A bf16 run keeps all its tensors in bf16, and there are four of them."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 2, 2, 2, 0)}
