"""Adam keeps one running average, that of the gradients."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 2, 4, 0, 4)}
