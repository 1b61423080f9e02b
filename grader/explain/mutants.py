"""stub"""


def explain(*a, **k):
    return iter(())
