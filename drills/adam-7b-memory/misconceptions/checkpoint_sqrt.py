"""Checkpointing keeps the square root of the layers in full, rounded up."""

import math


def _per_token(model, checkpoint):
    layers = math.ceil(math.sqrt(model["layers"])) if checkpoint else model["layers"]
    return layers * _layer(model) + _head(model)
