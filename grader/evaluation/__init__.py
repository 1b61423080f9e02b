"""Programs, cases and results in one evaluation; comparing them; gathering what is found."""
