"""Measurements of a run, made in its process: memory, matmul FLOPs, numerical gradients."""
