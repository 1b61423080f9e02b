"""Tests of the use cases, without a command line."""
