"""Attacks on the protocol: forged bytes on the channel, replaced functions of the worker."""

from __future__ import annotations

from typing import Any

from tests.attacks.attack import ERROR, FAIL, LIMIT, Attack
from tests.sandbox.running import FIND

# Where the channel is, and how the worker writes: read in the worker by whoever has read the code.
FORGE = (
    FIND
    + """
import socket, stat, struct
wire, serve = sys.modules["worker.wire"], sys.modules["worker.serve"]
def channel():
    for fd in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                return fd
        except OSError:
            pass
def send(value):
    os.write(channel(), wire.encode(value))
def answer(values, **more):
    send({"ok": True, "reply": {"runs": ({"values": values, **more},), "common": ()}})
"""
)

# Every answer to a run with something put into it.
PADDED = (
    FIND
    + """
def padded(**more):
    wire = sys.modules["worker.wire"]
    plain = wire.message_fields
    def fields(message):
        found = plain(message)
        if type(message).__name__ == "Outcome":
            for name, value in more.items():
                found[name] = {**found[name], **value} if name == "values" else value
        return found
    wire.message_fields = fields
"""
)


def instead(name: str, tries: str, acts: str, **expected: Any) -> Attack:
    """Return an attack that does something on the channel instead of replying, and waits."""
    source = f"{FORGE}\ndef centre(x, w):\n    {acts}\n    time.sleep(60)\n"
    return Attack(name, tries, source, **expected)


# fmt: off
ATTACKS = (
    Attack(
        "bytes-on-every-descriptor",
        "writes what might be a verdict on whatever descriptor there is, before it is asked",
        """
        for fd in range(3, 64):
            try: os.write(fd, b'{"verdict": "pass"}' * 100)
            except OSError: pass
        """,
        verdict=ERROR, says="broke the protocol: not a reply",
    ),
    Attack(
        "frames-on-every-descriptor",
        "writes proper frames, a load that is fine and two runs, and goes on",
        FORGE + """
send({"ok": True, "reply": {"missing": (), "uncallable": (), "defined": ("centre",)}})
answer({"y": np.zeros((1, 2)), "grad_x": None, "grad_w": None, "ctx": None})
send({"ok": True, "verdict": "pass"})
""",
        verdict=ERROR,
        # Whether the second frame is met before or after the judge has asked for a run is a race.
        says="without being asked|broke the protocol: not a reply to run",
    ),
    Attack(
        "reply-twice", "answers a call itself, and lets the worker answer it again",
        FORGE + """
def centre(x, w):
    answer({"y": np.zeros_like(x)})
    return x * 0, (x, w)
""",
        # The wrong answer is judged where the second one comes after it was read.
        verdict=(ERROR, FAIL),
    ),
    instead(
        "reply-without-what-was-asked",
        "a run that is well and has no values, and one that has others",
        r'answer({"\x1b[2J": 1, "": None}, changed=7, stale=None)',
        verdict=ERROR, says="protocol", seconds=0.3,
    ),
    instead(
        "forged-walls",
        "answers a run as if asked for its walls, or as if a step beyond the end had raised",
        """send({"ok": False, "fault": {"step": 10**30, "raised": {"type": "E" * 10**4,
          "message": "m" * 10**4, "frames": ((10**300, 1, 2),) * 100, "column": -1}},
          "reply": {"acts": {"read": "refused"}, "missing": ()}})""",
        verdict=ERROR, says="broke the protocol", seconds=0.3,
    ),
    instead(
        "forged-fault-of-the-worker",
        "says that the worker is broken, so that the judge may blame itself",
        r'send({"ok": False, "fault": {"broken": "Traceback: internal error of drill\x1b[2J"}})',
        verdict=ERROR, says="broke the process it runs in", seconds=0.3,
    ),
    instead(
        "not-a-boolean", "`ok` as an array, which is true and false",
        'send({"ok": np.ones(2, bool), "reply": {"runs": ()}})',
        verdict=ERROR, says="broke the protocol: not a reply", seconds=0.3,
    ),
    instead(
        "eight-terabytes", "a header that promises 8 TB",
        'os.write(channel(), struct.pack("<4sIQ", b"drl1", 16, 8 << 40))',
        verdict=ERROR, says=r"returned far too much data \(8,796,093,022,224 bytes",
    ),
    Attack(
        "a-drip", "one byte at a time, for ever",
        FORGE + """
def centre(x, w):
    os.write(channel(), struct.pack("<4sIQ", b"drl1", 100_000, 0))
    while True:
        os.write(channel(), b"\\0")
        time.sleep(0.01)
""",
        verdict=LIMIT, says=r"was idle for more than 0\.3 seconds", seconds=0.3,
    ),
    Attack(
        "patched-worker",
        "replaces what copies results, what encodes them and what compares them, in the worker",
        FIND + """
for name in ("wire", "values", "steps", "serve"):
    module = sys.modules["worker." + name]
    for which in ("same_bits", "share_memory", "fingerprint", "type_name"):
        if hasattr(module, which):
            setattr(module, which, lambda *a, **k: True)
sys.modules["worker.wire"].decode = None
sys.modules["worker.wire"].MAX_META_BYTES = 1 << 40
sys.modules["worker.wire"].MAX_FRAME_ITEMS = 1 << 40
def centre(x, w):
    return ["x" * 60_000] * 100, None
""",
        verdict=ERROR, says="",
    ),
    Attack(
        "a-value-that-nobody-asked-for",
        "answers with a long list besides what is asked for: the judge's time runs as it reads",
        PADDED + 'padded(values={"z": [None] * 13_000})',
        verdict=ERROR, says=r"broke the protocol: not a reply to run \(values\)",
    ),
    Attack(
        "more-pairs-than-there-are",
        "says of two thousand results and inputs that they share memory",
        PADDED + 'padded(shared=(("", ""),) * 2000)',
        verdict=ERROR, says=r"broke the protocol: not a reply to run \(shared\)",
    ),
    Attack(
        "descriptors-to-the-judge",
        "sends the judge open files along with a reply, until it has no more",
        FORGE + """
def centre(x, w):
    ours = socket.socket(fileno=os.dup(channel()))
    files = [os.open("/dev/null", os.O_RDONLY) for _ in range(20)]
    frame = wire.encode({"ok": True, "reply": {}})
    try:
        socket.send_fds(ours, [frame], files)
    except OSError as error:
        print("refused", error)
    time.sleep(60)
""",
        verdict=LIMIT, seconds=0.3,
    ),
    instead(
        "closed-channel", "closes its channel and lives on",
        "os.closerange(3, 64)",
        verdict=ERROR, says="closed its channel to the judge", seconds=5.0,
    ),
    Attack(
        "half-closed-channel", "stops reading, so that the judge writes into nothing",
        FORGE + """
ours = socket.socket(fileno=os.dup(channel()))
def centre(x, w):
    threading.Timer(0, lambda: None).start()
    answer({"y": x * 0})
    ours.shutdown(socket.SHUT_RD)
    time.sleep(60)
""",
        verdict=(ERROR, LIMIT), seconds=2.0,
    ),
    Attack(
        "stops-reading", "fills the judge's socket and never reads",
        FORGE + """
def centre(x, w):
    while True:
        os.write(channel(), b"drl1" * 10_000)
""",
        verdict=ERROR, says="protocol|far too much", seconds=0.3,
    ),
)
