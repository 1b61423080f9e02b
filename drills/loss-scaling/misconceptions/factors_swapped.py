"""An overflow multiplies the scale by growth, a row by backoff."""


def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale, clean = scale * state["growth"], 0
    elif clean + 1 == state["interval"]:
        scale, clean = scale * state["backoff"], 0
    else:
        clean += 1
    return {**state, "scale": scale, "clean": clean}
