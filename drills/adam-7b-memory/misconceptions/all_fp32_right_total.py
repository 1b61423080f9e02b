"""16 bytes per parameter are four fp32 tensors."""

RECIPES = {**RECIPES, "bf16_mixed": (4, 4, 4, 4, 0)}
