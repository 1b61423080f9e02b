"""What an interface asks a file to define is read from its text."""

from __future__ import annotations

from grader.model.signatures import required_signatures

INTERFACE = """
# tower.py, given: def branch(v)
from rotary import rope
h[i + 1] = h[i] + f(h[i])

def scale(x, factor: float = 2.0,
          shape=(1, 2)) -> tuple[int, int]: ...
    # def inner(x)

class Cache:
    def __init__(self, size): ...
    def new(self): ...
    def append(self, seq, rows=(0, 1)): ...
        # x = 3
WHY = {"first": ""}   # a letter
same == other
"""


def test_functions_classes_methods_and_constants_are_asked_for() -> None:
    assert required_signatures(INTERFACE) == {
        "scale": "scale(x, factor: float = 2.0, shape=(1, 2))",
        "Cache": "class Cache",
        "Cache.new": "Cache.new()",
        "Cache.append": "Cache.append(seq, rows=(0, 1))",
        "WHY": "WHY",
    }
