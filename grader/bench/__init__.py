"""Programs, cases and results on one bench; comparing them; gathering what is found."""
