"""Without a master copy the gradients are held in fp32."""

RECIPES = {**RECIPES, "bf16_no_master": (2, 4, 4, 4, 0)}
