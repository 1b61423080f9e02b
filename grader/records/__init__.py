"""A person's history on disk: events, and the attempts, progress and interviews in them."""
