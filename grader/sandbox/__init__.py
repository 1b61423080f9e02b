"""F2: a Python file running in its own process, spoken to in plain data."""
