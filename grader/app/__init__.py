"""The use cases: what a command does, for a notebook or another program too.

Nothing here prints, ends the process or reads the clock, the environment or the current folder: a
`Context` says where, when, who and with which records.
"""
