"""Programs derived from a reference: mutants, right ones in other styles, and trivial answers."""
