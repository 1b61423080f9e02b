"""A step with an overflow is the first of the next row."""


def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale, clean = scale * state["backoff"], min(1, state["interval"] - 1)
    elif clean + 1 == state["interval"]:
        scale, clean = scale * state["growth"], 0
    else:
        clean += 1
    return {**state, "scale": scale, "clean": clean}
