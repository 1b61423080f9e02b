"""The audit of questions: kill matrix, right solutions, mutants, inputs, and proofs."""
