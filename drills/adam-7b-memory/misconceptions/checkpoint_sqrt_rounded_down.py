"""Checkpointing keeps the square root of the layers in full, rounded down."""

import math


def _per_token(model, checkpoint):
    layers = math.isqrt(model["layers"]) if checkpoint else model["layers"]
    return layers * _layer(model) + _head(model)
