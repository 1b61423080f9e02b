"""Styles of what is shown: words and signs carry the meaning, color only helps."""

WRONG = "bold red"
RIGHT = "green"
FOCUS = "bold cyan"
STRONG = "bold"
QUIET = "dim"
WARNED = "yellow"
