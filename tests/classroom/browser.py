"""Chromium without a window: a page as it is laid out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from html import unescape
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
MISSING = f"no browser here: none of {', '.join(NAMES)} is on the PATH"
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip
_WALL = 240  # seconds, on a machine that is busy with something else


def run(page: Path, *flags: str, fragment: str = "") -> str:
    """Open a page and return what is written to standard output."""
    assert PROGRAM is not None, MISSING
    with tempfile.TemporaryDirectory(prefix="drill-browser-") as home:
        command = [PROGRAM, *_FLAGS, f"--user-data-dir={home}/data", *flags]
        address = page.resolve().as_uri() + (f"#{fragment}" if fragment else "")
        done = subprocess.run(
            [*command, address],
            capture_output=True,
            text=True,
            timeout=_WALL,
            check=True,
            env={**os.environ, "HOME": home},
        )
    return done.stdout


def measured(page: Path, script: str, *flags: str, fragment: str = "") -> Any:
    """Return what JavaScript, or a promise of its, comes to on a copy that may run it."""
    text = page.read_text(encoding="utf-8")
    policy = text.index("<meta http-equiv")
    text = text[:policy] + text[text.index(">", policy) + 1 :]
    # A task later the browser has gone to the fragment.
    wait = "addEventListener('load', () => setTimeout(() => {%s}, 300))"
    write = (
        f"Promise.resolve({script}).then(found => {{"
        "const p = document.createElement('pre'); p.id = 'measured';"
        "p.textContent = JSON.stringify(found); document.body.append(p)})"
    )
    copy = page.with_name(f"measured-{page.name}")
    copy.write_text(
        text.replace("</body>", f"<script>{wait % write}</script></body>"), encoding="utf-8"
    )
    said = run(copy, "--dump-dom", "--virtual-time-budget=5000", *flags, fragment=fragment)
    _, found, rest = said.partition('<pre id="measured">')
    assert found, "the page was not measured"
    return json.loads(unescape(rest.partition("</pre>")[0]))
