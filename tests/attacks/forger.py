"""Add results recorded in other grades to a wrong program.

A driver is executed in the process of a submission, after it.  So the text that is planted replaces
`exec`: once a driver is there, its functions, and those of the submission, answer with what the
reference gave on the same arguments.  Arguments that differ from seed to seed count for their form.
"""

from __future__ import annotations

import base64
import pickle
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.explain.session import GradingSession
from grader.grading.evaluation import Evaluation
from grader.sandbox.messages import to_wire_steps
from grader.sandbox.worker import protocol, steps, values
from grader.sandbox.worker.wire import Opaque, Tensor

Call = tuple[str, str, list[Any], Any]  # owner, function, arguments, result
LARGEST = 40_000  # bytes of one call: a submission has 1 MiB

PLANTED = '''
import base64 as _base64, builtins as _builtins, pickle as _pickle, zlib as _zlib
import numpy as _np

_CALLS = _pickle.loads(_zlib.decompress(_base64.b64decode({calls!r})))
_WHOLE = {whole}


def _back(value):
    if isinstance(value, tuple) and value[:1] == ("tensor",):
        import torch

        return torch.from_numpy(_np.array(value[1])).to(getattr(torch, value[2]))
    if isinstance(value, (list, tuple)):
        return type(value)(map(_back, value))
    if isinstance(value, dict):
        return {{key: _back(entry) for key, entry in value.items()}}
    return value


def _plain(value):
    if hasattr(value, "detach"):
        dtype, value = str(value.dtype)[6:], value.detach().cpu()
        return "tensor", _np.array(value.float() if dtype == "bfloat16" else value), dtype
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    if isinstance(value, dict):
        return {{key: _plain(entry) for key, entry in value.items()}}
    return value


def _fits(given, known):
    """Return True if an argument is the recorded one, or has its form."""
    try:
        given = _plain(given)
        if known[0] == "form":
            return _form(given) == known[1]
        return _pickle.dumps(_exact(given)) == _pickle.dumps(_exact(known[1]))
    except Exception:
        return False


def _exact(value):
    if isinstance(value, (list, tuple)):
        return [_exact(entry) for entry in value]
    if isinstance(value, dict):
        return {{key: _exact(entry) for key, entry in value.items()}}
    if isinstance(value, (_np.ndarray, _np.generic)):
        value = _np.asarray(value)
        return str(value.dtype), value.shape, value.tobytes()
    return value


def _form(value):
    if isinstance(value, (list, tuple)):
        return [_form(entry) for entry in value]
    if isinstance(value, (_np.ndarray, _np.generic)):
        return "array", _np.shape(value)
    return type(value).__name__


def _mixed(mine, first, second):
    """Return a result in which recorded parts replace its own, if both records agree."""
    if _pickle.dumps(_exact(first)) == _pickle.dumps(_exact(second)):
        return _back(first)
    every = mine, first, second
    if all(isinstance(one, (list, tuple)) for one in every) and len(set(map(len, every))) == 1:
        return type(mine)([_mixed(*entries) for entries in zip(*every)])
    if all(isinstance(one, dict) for one in every) and len(set(map(frozenset, every))) == 1:
        return {{key: _mixed(mine[key], first[key], second[key]) for key in mine}}
    return mine


def _forged(owner, name, real):
    def forged(*args, **kwargs):
        own = [*args[owner == "driver" :], *(kwargs[key] for key in sorted(kwargs))]
        for known, first, second in _CALLS[owner, name]:
            if len(own) == len(known) and all(map(_fits, own, known)):
                if _WHOLE:
                    return _back(first)
                try:
                    mine = real(*args, **kwargs)
                except Exception:
                    return _back(first)
                return _mixed(mine, first, second)
        return real(*args, **kwargs)

    return forged


for _owner, _name in _CALLS:
    if _owner == "submission":
        globals()[_name] = _forged(_owner, _name, globals().get(_name))
_exec = _builtins.exec


def _hooked(code, space=None, *more):
    _exec(code, space, *more)
    if space is not None and space.get("__name__") == "submission_driver":
        for owner, name in _CALLS:
            if owner == "driver":
                space[name] = _forged(owner, name, space[name])


_builtins.exec = _hooked
'''


def forgery(
    session: GradingSession, starter: bytes, seeds: tuple[int, int], *, whole: bool
) -> bytes:
    """Return a wrong program followed by the results of the reference on two seeds.

    Args:
        session: of the question.
        starter: the wrong program.
        seeds: of two grades that are known.
        whole: whether whole results are replaced, or only what both seeds have in common.
    """
    recorded = [list(_calls(session, seed)) for seed in seeds]
    table: dict[tuple[str, str], list[tuple[Any, Any, Any]]] = {}
    for (owner, name, args, first), (*_, others, second) in zip(*recorded, strict=True):
        known = [
            ("value", one) if values.same_bits(one, other) else ("form", _form(one))
            for one, other in zip(args, others, strict=True)
        ]
        entry = [(kind, _sendable(one) if kind == "value" else one) for kind, one in known]
        if not _has_objects([first, second, *(o for k, o in known if k == "value")]):
            call = entry, _sendable(first), _sendable(second)
            if len(pickle.dumps(call)) <= LARGEST:
                table.setdefault((owner, name), []).append(call)
    calls = base64.b64encode(zlib.compress(pickle.dumps(table))).decode()
    return starter + PLANTED.format(calls=calls, whole=whole).encode()


def _calls(session: GradingSession, seed: int) -> Iterator[Call]:
    """Yield every call of the reference in the steps of all checks, on one seed."""
    question = session.question
    program = steps.execute_program("recorded", _load(session))
    if question.spec.needs_torch:
        from grader.sandbox.worker.measure import autograd  # noqa: F401 which gives steps its vjp
    evaluation = session.new_evaluation(session.bank.reference, seed)
    done = set()
    for check in question.spec.checks:
        for case in evaluation.cases_of(check):
            if (check.run, case.name) not in done:
                done.add((check.run, case.name))
                yield from _of_run(program, evaluation, check.run, case.name)


def _of_run(
    program: steps.LoadedProgram, evaluation: Evaluation, run: str, case: str
) -> Iterator[Call]:
    inputs = evaluation.inputs(evaluation.cases[case], run)
    names = steps.build_inputs(
        {name: protocol.WireInput(**given) for name, given in inputs.items()}
    )
    for step in to_wire_steps(evaluation.steps(run)):
        if step.owner == "judge":
            return
        given = sorted(step.arguments, key=lambda one: one.keyword or "")
        args = [values.snapshot(steps.argument_value(one, names)) for one in given]
        assigned = steps.perform_step(program, step, names)
        results = [values.snapshot(assigned[target]) for target in step.targets]
        if step.owner != "torch":
            yield step.owner, step.function, args, tuple(results) if step.unpack else results[0]


def _load(session: GradingSession) -> protocol.Load:
    """Return the request that loads the reference."""
    session.bank.restore_reference()
    loads = session.bank.reference.load_request
    assert loads is not None
    return loads


def _has_objects(value: Any) -> bool:
    """Return True if a value contains anything but plain data."""
    if isinstance(value, (list, tuple)):
        return any(map(_has_objects, value))
    if isinstance(value, dict):
        return any(map(_has_objects, value.values()))
    return isinstance(value, Opaque)


def _sendable(value: Any) -> Any:
    """Return a value without classes of drill."""
    if isinstance(value, Tensor):
        return "tensor", value.values, value.dtype
    if isinstance(value, (list, tuple)):
        return type(value)(map(_sendable, value))
    if isinstance(value, dict):
        return {key: _sendable(entry) for key, entry in value.items()}
    return value


def _form(value: Any) -> Any:
    """Return the form of an argument whose values differ between seeds."""
    value = _sendable(value)
    if isinstance(value, (list, tuple)):
        return [_form(entry) for entry in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return "array", np.shape(value)
    return type(value).__name__
