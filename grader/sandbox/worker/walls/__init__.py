"""The walls around a worker: what the kernel refuses to it and to every thread it starts.

None of them needs root, a package or a user namespace.  Both kinds are needed: Landlock alone
leaves signals, sockets and shared memory, seccomp alone leaves files.
"""
