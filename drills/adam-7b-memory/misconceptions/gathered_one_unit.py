"""The next unit is not fetched ahead: one is whole in bf16, and its gradient twice."""

GATHERED = 2 + 2 + 4
