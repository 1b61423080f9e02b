"""The walls around a worker: the kernel refuses acts of the worker and of every thread it starts.

No wall needs root, a package or a user namespace.  Both kinds are needed: Landlock does not cover
signals, sockets and shared memory, and seccomp does not cover files.
"""
