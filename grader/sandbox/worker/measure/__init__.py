"""What a run keeps, takes and multiplies, counted inside the process that runs it."""
