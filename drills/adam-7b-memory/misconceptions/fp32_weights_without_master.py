"""Without a master copy the weights themselves have to be fp32."""

RECIPES = {**RECIPES, "bf16_no_master": (4, 2, 4, 4, 0)}
