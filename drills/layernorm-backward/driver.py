"""The letters that a submission gives."""


def why(program):
    """Return WHY, the letters by question; None where there are no answers."""
    return getattr(program, "WHY", None)
