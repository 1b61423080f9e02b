"""What `bank new` writes for an author to begin from."""
