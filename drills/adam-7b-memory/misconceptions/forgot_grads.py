"""Gradients are gone by the time the optimizer steps, so they need no room."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 0, 4, 4, 4)}
