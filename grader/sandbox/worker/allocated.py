"""The most bytes that one step allocates at once, as tracemalloc sees it.

numpy reports the memory of every array to it, however short its life.
"""

from __future__ import annotations

import gc
import tracemalloc

from . import steps as stepping
from .messages import Measured, Task
from .namespace import LoadedModule

OWN_OBJECTS = 4 << 10  # bytes that a step's frames and small objects may take without being asked


def measure(program: LoadedModule, task: Task) -> Measured:
    """The most that the last step allocates at once, its results included; then the run goes on."""
    *before, last = task.steps
    # Caches made by a first call are not its cost.
    stepping.perform_all(program, task.steps, stepping.build(task.inputs))
    names = stepping.build(task.inputs)
    stepping.perform_all(program, before, names)
    gc.collect()
    tracemalloc.start()
    try:
        stepping.perform_all(program, [last], names)
        highest = tracemalloc.get_traced_memory()[1]
    except stepping.Stopped as stopped:
        raise stepping.Stopped(len(before), stopped.error) from None
    finally:
        tracemalloc.stop()
    results = stepping.finish(program, task.rest, names, task.want)
    return Measured(max(0, highest - OWN_OBJECTS), results=results)
