"""The master copy is in bf16, like the weights that it is a copy of."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 2, 4, 4, 2)}
