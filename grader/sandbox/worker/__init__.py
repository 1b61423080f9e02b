"""What shares a process with a candidate's code: all of ours that a worker can import.

The judging process imports only `wire`, `protocol`, `control`, `layouts`, `mapping` and `walls`
from here.  Modules refer to each other relatively, because a worker loads this folder under a name
of its own (`boot.py`).
"""
