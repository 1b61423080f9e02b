"""The head and the recomputed layer are there together."""


def _per_token(model, checkpoint):
    if checkpoint:
        return model["layers"] * _kept(model) + _head(model) + _recomputed(model)
    return model["layers"] * _layer(model) + _head(model)
