"""The proof of a question, and the mutants of its reference."""
