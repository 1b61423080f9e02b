"""What runs beside a candidate's code: this folder is all that a worker can import of us.

The judging process imports only `wire` and `walls` from here.  Modules refer to each other
relatively, because a worker loads this folder under a name of its own (`boot.py`).
"""
