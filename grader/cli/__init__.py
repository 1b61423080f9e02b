"""F6: the command line: parse, call one function, render, end with a status."""
