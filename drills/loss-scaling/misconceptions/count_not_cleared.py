"""Growth does not begin a new row."""


def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale, clean = scale * state["backoff"], 0
    else:
        clean += 1
        if clean >= state["interval"]:
            scale *= state["growth"]
    return {**state, "scale": scale, "clean": clean}
