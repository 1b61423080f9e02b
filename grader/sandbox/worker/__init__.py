"""The only modules of drill that a worker, the process of a candidate's code, can import.

The judge imports only `wire`, `protocol`, `control`, `limits` and `walls` from here.  Imports
between these modules are relative, because a worker loads this folder as a package called `worker`
(`boot.py`).
"""
