"""Version of the program, which reports and records carry."""

__version__ = "0.1.0"
