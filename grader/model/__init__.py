"""Words and frozen data that every other package uses."""
