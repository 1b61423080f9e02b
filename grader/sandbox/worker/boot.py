"""The first lines of a process that runs programs, or of one that forks such processes.

Started as `python -I -S -B boot.py ORDERS` by `grader.sandbox`, where ORDERS is JSON.  Nothing is
imported from the environment before the walls are up, save by a zygote, which runs no programs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any


def main() -> None:
    """Follow the orders until the judge hangs up."""
    orders: Mapping[str, Any] = json.loads(sys.argv[1])
    sys.argv[:] = ["worker"]
    stdlib = list(sys.path[1:])  # without this folder
    _make_package()
    from worker import confine  # type: ignore[import-not-found, unused-ignore]

    if orders["control"] is not None:
        confine.die_with(orders["parent"])
        _libraries(stdlib, orders)
        from worker import zygote  # type: ignore[import-not-found, unused-ignore]

        zygote.serve(orders)
        return
    missing = confine.confine(orders)
    _libraries(stdlib, orders)
    from worker import serve  # type: ignore[import-not-found, unused-ignore]

    serve.serve(orders["channel"], confine.try_everything(orders), missing)


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


def _libraries(stdlib: list[str], orders: Mapping[str, Any]) -> None:
    """Import what programs compute with."""
    sys.path[:] = stdlib + orders["site"]
    import numpy  # noqa: F401  before the path is narrowed

    if orders["torch"]:
        import torch

        torch.set_num_threads(1)
        torch.compile = _no_compiler  # type: ignore[assignment, unused-ignore]
    else:
        sys.path[:] = stdlib  # numpy finds its own submodules; nothing else of the site is offered

    import gc

    # The libraries' objects never die: looking through them at every collection takes 0.2 s.
    gc.collect()
    gc.freeze()


def _no_compiler(*_: object, **__: object) -> None:
    """A courtesy: what follows otherwise is a page of traceback about a program not started."""
    raise RuntimeError(
        "torch.compile is not available here: it starts a compiler, and a submission may not start "
        "programs; call the function without it"
    )


if __name__ == "__main__":
    main()
