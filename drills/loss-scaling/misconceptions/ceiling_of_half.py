"""The scale is never above what float16 can hold."""

CEILING = 65504.0
right_adjusted = _adjusted


def _adjusted(state, finite):
    after = right_adjusted(state, finite)
    return {**after, "scale": min(CEILING, after["scale"])}
