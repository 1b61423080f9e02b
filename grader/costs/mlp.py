"""The costs of a multilayer perceptron: shapes, bytes of training, FLOPs and bytes moved.

The model is a stack of projections with relu or gelu between them, and the cross-entropy of its
outputs in fp32.  Backward needs the input of each projection.  That input also gives the derivative
of the relu before it; a gelu needs its own input besides.  The data needs no gradient: backward has
one product for the first projection and two for each other one.
"""

from __future__ import annotations

from grader.costs import training
from grader.costs.formulas import CostModel, Setting
from grader.costs.training import MatmulFormula, TensorFormula

_MATRICES = {  # width of the input, width of the output, number of such matrices
    "first": ("inputs", "hidden", "1"),
    "between": ("hidden", "hidden", "(layers - 1)"),
    "last": ("hidden", "outputs", "1"),
}
_PARAMETERS = (
    *(
        TensorFormula(name, f"{outputs}, {inputs}", times)
        for name, (inputs, outputs, times) in _MATRICES.items()
    ),
    *(
        TensorFormula(f"bias of {name}", outputs, f"{times} * biased")
        for name, (_, outputs, times) in _MATRICES.items()
    ),
)
_PRODUCTS = [MatmulFormula(name, "batch", *matrix) for name, matrix in _MATRICES.items()]
_DATA = [TensorFormula("data", "batch, inputs", kept_if="1")]
_LAYER = [
    TensorFormula("projected", "batch, hidden", kept_if="gelu"),
    TensorFormula("activated", "batch, hidden", kept_if="1"),
]
_LOSS = training.loss_activations("batch, outputs")
_KEPT_DATA = training.kept_bytes_formula(_DATA)
_KEPT_LAYER = training.kept_bytes_formula(_LAYER)
MODEL = CostModel(
    "mlp",
    "Projections with an activation between them; cross-entropy of the outputs in fp32.",
    (
        Setting("inputs", "width of the data"),
        Setting("hidden", "width of the hidden layers"),
        Setting("outputs", "classes"),
        Setting("layers", "hidden ones"),
        Setting("bias", "of each projection", {"yes": {"biased": 1}, "no": {"biased": 0}}),
        Setting("activation", "between projections", {"relu": {"gelu": 0}, "gelu": {"gelu": 1}}),
        Setting("batch", "rows of each GPU"),
        *training.SETTINGS,
    ),
    {
        "digits": training.preset_settings(
            inputs=784, hidden=512, outputs=10, layers=1, bias="yes", activation="relu", batch=128,
            precision="fp32",
        ),
        "wide": training.preset_settings(
            inputs=4096, hidden=11008, outputs=4096, layers=1, bias="no", activation="gelu",
            batch=2048,
        ),
    },
    (),
    {
        "tokens": "0",  # the data has no tokens
        **training.cost_formulas(_PARAMETERS, _PRODUCTS),
        "layers_kept": f"{_KEPT_DATA} + layers * ({_KEPT_LAYER})",
        "head_kept": training.kept_bytes_formula(_LOSS),
        "kept": "layers_kept + head_kept",
        "most": "kept + 8 * batch * outputs",
        "together": "state + most",
        "pairs": "0",
        "backward": f"2 * forward - {_PRODUCTS[0].flops}",
        "recomputed": "0",
        "step": "forward + backward",
    },
    [*training.cost_tables(
        _PARAMETERS, _PRODUCTS, {"the data": _DATA, "each layer": _LAYER, "the loss": _LOSS}
    )],
)  # fmt: skip
