"""The scale grows by the clock: overflows count as steps and do not end a row."""


def _adjusted(state, finite):
    scale, clean = state["scale"], state["clean"]
    clean += 1
    if not finite:
        scale *= state["backoff"]
    elif clean % state["interval"] == 0:
        scale *= state["growth"]
    return {**state, "scale": scale, "clean": clean}
