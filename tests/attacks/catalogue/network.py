"""Attacks through the network, and on listening programs of this machine."""

from __future__ import annotations

from tests.attacks.attack import Attack

# fmt: off
ATTACKS = (
    Attack(
        "sockets", "TCP, UDP, unix, netlink, packet, vsock, Bluetooth, crypto and raw sockets",
        acts="""
        import socket
        for family in range(0, 46):
            for kind in (1, 2, 3, 5, 1 | 0x80000, 2 | 0x800):
                attempt(f"{family} {kind}", call, 41, 198, family, kind, 0)
        attempt("TCP", socket.create_connection, ("127.0.0.1", T["tcp"]), 1)
        attempt("name", socket.getaddrinfo, "localhost", T["tcp"], also=(-3, -2))
        import urllib.request
        url = f"http://127.0.0.1:{T['tcp']}/"
        attempt("HTTP", urllib.request.urlopen, url, None, 1, also=(None,))
        """,
    ),
    Attack(
        "pairs-of-sockets", "a pair of datagram sockets, either of which could send to any address",
        acts="""
        import socket
        for kind in (2, 5, 2 | 0x800, 2 | 0x80000, 5 | 0x800, 3):
            attempt(f"pair {kind}", call, 53, 199, 1, kind, 0, (ctypes.c_int * 2)())
        for family in (2, 10, 16, 17, 30, 40):
            attempt(f"family {family}", call, 53, 199, family, 1, 0, (ctypes.c_int * 2)())
        ours, theirs = socket.socketpair()
        for address in (T["unix"], T["unix_dgram"], T["abstract"], T["abstract"] + "-dgram"):
            attempt("connect", ours.connect, address, also=(106,))
            attempt("send to", ours.sendto, b"out", address, also=(106, 95))
            attempt("message to", ours.sendmsg, [b"out"], [], 0, address, also=(106, 95))
        attempt("bind", ours.bind, "drill-mark")
        attempt("listen", ours.listen)
        attempt("accept", ours.accept)
        attempt("disconnect", call, 42, 203, ours.fileno(), bytes(16), 16)
        """,
    ),
    Attack(
        "past-the-calls", "io_uring, 32-bit numbers of calls, and eBPF",
        acts="""
        attempt("io_uring", call, 425, 425, 8, ctypes.create_string_buffer(120))
        attempt("enter", call, 426, 426, 0, 1, 0, 0, None, 0)
        attempt("register", call, 427, 427, 0, 0, None, 0)
        attempt("bpf", call, 321, 280, 0, bytes(120), 120)
        for number in range(463, 600):
            attempt(f"number {number}", call, number, number, 0, 0, 0, 0, 0, 0)
        """,
    ),
)
