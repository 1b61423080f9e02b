"""Checkpointing keeps the square root of the layers in full, as a fraction."""


def _per_token(model, checkpoint):
    layers = model["layers"] ** 0.5 if checkpoint else model["layers"]
    return layers * _layer(model) + _head(model)
