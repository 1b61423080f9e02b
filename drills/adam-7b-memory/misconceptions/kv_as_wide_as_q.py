"""k and v are d wide, as q is."""


def _key_width(model):
    return model["d"]
