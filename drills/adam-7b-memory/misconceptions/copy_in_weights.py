"""The entry for the weights holds both the bf16 weights and their fp32 copy."""

RECIPES = {**RECIPES, "bf16_mixed": (2 + 4, 2, 4, 4, 0)}
