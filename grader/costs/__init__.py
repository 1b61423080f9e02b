"""The costs of a model: shapes, bytes and FLOPs as formulas over its sizes, in integers."""

from grader.costs import mlp, transformer
from grader.costs.formulas import CostModel

MODELS: dict[str, CostModel] = {model.name: model for model in (transformer.MODEL, mlp.MODEL)}
