"""Explain why a submission is wrong: find the ideas, rules and cases behind its results."""
