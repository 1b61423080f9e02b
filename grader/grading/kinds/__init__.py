"""One class for each kind of check; `registry` finds them."""
