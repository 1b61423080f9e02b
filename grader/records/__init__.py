"""F5: what a person did: attempts with the bytes they wrote, starts, hints, solutions given up."""
