"""F5: pure functions from a Report to text."""
