"""The parts of an audit besides the kill matrix: each file proves, or doubts, one thing."""
