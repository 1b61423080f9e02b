"""Without a master copy the weights, and so their gradients, have to be fp32."""

RECIPES = {**RECIPES, "bf16_no_master": (4, 4, 4, 4, 0)}
