"""torch.optim.AdamW keeps its moments in fp32 whatever the parameters are."""

RECIPES = {**RECIPES, "torch_pure_bf16": (2, 2, 4, 4, 0)}
