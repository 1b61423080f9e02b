"""Measurements of a run, made in its process: memory kept, memory allocated, matmul FLOPs."""
