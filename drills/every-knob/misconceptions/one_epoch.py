"""Training ends after one pass."""

EPOCHS = 1
