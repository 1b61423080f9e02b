"""The weights are fp32, the gradients bf16, and there is an fp32 master copy besides."""

RECIPES = {**RECIPES, "bf16_mixed": (4, 2, 4, 4, 4)}
