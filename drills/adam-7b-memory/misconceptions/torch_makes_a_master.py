"""torch.optim.AdamW works in fp32: moments and a master copy of bf16 parameters."""

RECIPES = {**RECIPES, "torch_pure_bf16": (2, 2, 4, 4, 4)}
