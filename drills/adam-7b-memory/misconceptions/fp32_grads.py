"""The usual mixed recipe holds its gradients in fp32."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 4, 4, 4, 4)}
