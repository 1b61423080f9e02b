"""An overflow lowers the scale, and nothing raises it."""


def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale, clean = scale * state["backoff"], 0
    return {**state, "scale": scale, "clean": clean}
