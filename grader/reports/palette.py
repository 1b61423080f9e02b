"""Styles of what is shown: words and marks carry the meaning, styles only repeat it.

No color is readable on light and on dark backgrounds alike, so no word and no number has one.
These are SGR 7, 1, 31 and 32; no other is ever written.
"""

WRONG = "reverse"  # FAIL, NOT PROVED, MISSING
STRONG = "bold"  # PASS, PROVED, section words
FOCUS = "bold"  # the entry that matters
MARK = "red"  # the mark of a wrong entry, a leading -
ADDED = "green"  # a leading +
QUIET = RIGHT = WARNED = ""
