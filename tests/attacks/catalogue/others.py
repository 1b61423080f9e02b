"""From one submission to the next, and from a fork to what forked it."""

from __future__ import annotations

from tests.attacks.attack import ERROR, PASS, Attack

# fmt: off
ATTACKS = (
    Attack(
        "same-numbers-in-every-fork",
        "hopes that forks of one process draw the same numbers, and is right all the same",
        "import random, secrets\nprint(np.random.rand(), random.random(), secrets.token_hex())",
        verdict=PASS, says="pass",
    ),
    Attack(
        "environment-and-arguments", "prints all that it was given",
        """
        def centre(x, w):
            told = repr([sys.argv, dict(os.environ), os.listdir(".")])
            allowed = {"PATH", "LANG", "LC_CTYPE", "HOME", "TMPDIR", "MALLOC_ARENA_MAX"}
            allowed.add("GLIBC_TUNABLES")
            extra = {n for n in os.environ if n not in allowed and not n.endswith("_NUM_THREADS")}
            assert not extra, extra
            assert sys.argv == ["worker"] and os.listdir(".") == [], told
            raise LookupError("nothing is given")
        """,
        verdict=ERROR, says="nothing is given",
    ),
)
