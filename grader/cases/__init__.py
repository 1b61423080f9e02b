"""The inputs of a question: how a case is written, and how it is drawn from a seed."""
