def _tensor(value):
    return Tensor(value) if isinstance(value, float) else value
