"""Adam keeps one running average, that of the squared gradients."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 2, 0, 4, 4)}
