"""The submissions of a class: find them, grade each one once, and report the results."""
