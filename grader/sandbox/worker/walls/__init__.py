"""The walls around a worker: the kernel refuses acts of the worker and of every thread it starts.

`landlock` limits access to files, `seccomp` refuses system calls, and `kernel` sets limits and
gives up privileges.  None of them needs root, a package or a user namespace.  Landlock and seccomp
are both needed: Landlock does not cover signals, sockets and shared memory, and seccomp does not
cover files.
"""
