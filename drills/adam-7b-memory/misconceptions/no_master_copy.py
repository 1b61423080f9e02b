"""The optimizer updates the bf16 weights directly; only its moments are fp32."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 2, 4, 4, 0)}
