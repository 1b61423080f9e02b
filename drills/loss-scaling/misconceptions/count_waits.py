"""An overflow does not count, and does not end a row either."""


def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale *= state["backoff"]
    elif clean + 1 == state["interval"]:
        scale, clean = scale * state["growth"], 0
    else:
        clean += 1
    return {**state, "scale": scale, "clean": clean}
