"""With checkpointing a layer keeps nothing: it is computed again."""


def _per_token(model, checkpoint):
    if checkpoint:
        return max(_head(model), _layer(model))
    return model["layers"] * _layer(model) + _head(model)
