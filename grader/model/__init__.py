"""F0: the words and the frozen data every other floor speaks in."""
