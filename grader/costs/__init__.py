"""What a model costs: shapes, bytes and FLOPs as formulas over its sizes, in whole numbers."""

from grader.costs import mlp, transformer
from grader.costs.formulas import CostModel

MODELS: dict[str, CostModel] = {one.name: one for one in (transformer.MODEL, mlp.MODEL)}
