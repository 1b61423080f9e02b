"""autocast leaves the gradients in fp32 but trains on bf16 weights with an fp32 master copy."""

RECIPES = {**RECIPES, "torch_autocast": (2, 4, 4, 4, 4)}
