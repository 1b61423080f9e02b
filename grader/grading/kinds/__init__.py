"""The kinds of check, such as `outputs` or `performance`; `registry` finds one by its name."""
