"""An fp32 gradient buffer comes on top of the bf16 gradients."""

RECIPES = {**RECIPES, "bf16_mixed_fp32grad": (2, 2 + 4, 4, 4, 4)}
