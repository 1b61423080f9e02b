"""The answers."""


def why(program):
    """Return WHY, the letters by question; None where there are no answers."""
    return getattr(program, "WHY", None)
