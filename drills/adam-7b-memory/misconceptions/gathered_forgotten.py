"""Everything is sharded, so nothing is ever whole."""

GATHERED = 0
