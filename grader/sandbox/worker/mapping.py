"""Memory that the judge has mapped too; mapped before there are walls, and any library."""

from __future__ import annotations

import ctypes
import mmap
import os

SIZE = 16 << 20  # bytes; only what is used of them exists
address = 0  # of the memory in this process; 0 where there is none


def take(descriptor: int) -> None:
    """Map the memory behind a descriptor, and close that: it can be had in no other way then."""
    global address
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    length, start = ctypes.c_size_t(SIZE), ctypes.c_long(0)
    prot = mmap.PROT_READ | mmap.PROT_WRITE
    found = libc.mmap(None, length, prot, mmap.MAP_SHARED, descriptor, start)
    os.close(descriptor)
    if found is None or found == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "the memory for inputs cannot be mapped")
    address = found
