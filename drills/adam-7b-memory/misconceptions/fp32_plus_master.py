"""The model trains in fp32 and there is an fp32 master copy besides."""

RECIPES = {**RECIPES, "bf16_mixed": (4, 4, 4, 4, 4)}
