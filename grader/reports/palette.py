"""Styles of what is shown: words and marks carry the meaning, styles only repeat it.

No color is readable on light and on dark backgrounds alike, so no word and no number has one.
These are SGR 7, 1, 31 and 32; no other is ever written.
"""

WRONG = "7"  # FAIL, NOT PROVED, MISSING
STRONG = "1"  # PASS, PROVED, section words
FOCUS = "1"  # the entry that matters
MARK = "31"  # the mark of a wrong entry, a leading -
ADDED = "32"  # a leading +
QUIET = RIGHT = WARNED = ""
