"""The moments follow the dtype of the weights; only the master copy is fp32."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 2, 2, 2, 4)}
