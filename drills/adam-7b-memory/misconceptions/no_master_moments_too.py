"""Without a master copy the optimizer works in bf16, its moments included."""

RECIPES = {**RECIPES, "bf16_no_master": (2, 2, 2, 2, 0)}
