"""What a question asks for: code to fix, or a text file with numbers or formulas."""
