"""The first lines of every process that the judge starts.

Run as `python -I -S -B boot.py ROLE DESCRIPTOR PARENT`; see `roles`.  Nothing is imported from the
environment before the walls are up, except by a zygote, which runs no programs.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Take the role that the arguments name."""
    role, descriptor, parent = sys.argv[1:]
    sys.argv[:] = ["worker"]
    _make_package()
    from worker import roles  # type: ignore[import-not-found, unused-ignore]

    getattr(roles, role)(int(descriptor), int(parent))


def _make_package() -> None:
    """Make this folder a package of its own, so that nothing else of ours can be imported."""
    import importlib.util

    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        "worker", os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["worker"] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    main()
