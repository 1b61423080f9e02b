"""Tests of the room `grader/classroom`."""
