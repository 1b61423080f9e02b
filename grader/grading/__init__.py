"""Judging a submission: programs, cases, kinds of checks and the session that runs them.

This file imports nothing: a command that only lists questions must not load numpy.
"""
