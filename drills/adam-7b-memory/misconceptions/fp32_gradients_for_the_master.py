"""fp32 gradients take the place of the master copy."""

RECIPES = {**RECIPES, "bf16_mixed_fp32grad": (2, 4, 4, 4, 0)}
