"""The scale is never below 1."""

right_adjusted = _adjusted


def _adjusted(state, finite):
    after = right_adjusted(state, finite)
    return {**after, "scale": max(1.0, after["scale"])}
