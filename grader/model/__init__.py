"""Plain data that all other rooms use, and the texts of numbers and errors."""
