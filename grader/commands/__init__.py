"""The command line: parse, call one function, render, end with a status."""
