"""What a person did, as events that are never changed, and what follows from them."""
