"""A model needs the room of its weights."""

RECIPES = {**RECIPES, "bf16_mixed": (2, 0, 0, 0, 0)}
