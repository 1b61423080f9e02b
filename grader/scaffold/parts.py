"""`drill bank new --parts N`: a skeleton of a question in parts, each with one check and one idea.

It is proved as it stands, so that an author sees at each step what broke it.
"""

from __future__ import annotations

from grader.model.errors import UsageError
from grader.scaffold.template import FOLDER, Template

MOST = 9  # parts of a question

_PART = """\
  - points: @POINTS@
    minutes: 10  # TODO how long a good candidate takes
    prompt: |
      @PROMPT@
    interface: |
      def answer_@P@(x):
          # x  (N,) float64  TODO shapes and dtypes
          # -> y  (N,) float64
          return y
    contract:
      - "TODO A sentence on what two reasonable people would ask: here, y is @FACTOR@ x."
    checks:
      - id: part-@P@
        run: part-@P@
        kind: outputs
        of: y
        cases: [case-@P@, more-@P@]
        about: TODO completes "checks that ..."
    hints:
      - TODO A question that leads on.
"""
_FIRST = "TODO The story: what goes wrong, for whom, and how it shows. Never the cause."
_LATER = "TODO What the interviewer asks next, in a sentence: an edge, then what it costs."
_RUN = "  part-@P@:\n    - y = answer_@P@(x)\n"
_CASE = """\
  case-@P@:
    about: TODO one that can be worked out in the head
    x: [1.0, 2.0, 5.0]
  more-@P@:
    about: TODO one that is drawn, whose sizes differ from the other's
    x: {normal: [7]}
"""
_IDEA = """\
  idea-@P@:
    killed_by: part-@P@
    feedback: TODO What is computed, why that is wrong, on which input it shows, what to do.
@CODE idea-@P@@
"""


def begin(parts: int) -> Template:
    """The template of a question in so many parts.

    Raises:
        UsageError: no question has so many, or it would be one part, which is no list of them.
    """
    if not 2 <= parts <= MOST:
        raise UsageError(
            f"--parts: expected a number from 2 to {MOST}, found {parts}",
            hint="without --parts a question of one part is written",
        )
    points = [100 // parts] * parts
    points[0] += 100 - sum(points)
    marks = [
        {"@P@": str(p), "@POINTS@": str(of), "@FACTOR@": str(p + 1)}
        | {"@PROMPT@": _FIRST if p == 1 else _LATER}
        for p, of in enumerate(points, 1)
    ]
    spec = (FOLDER / "parts.yaml.txt").read_text(encoding="utf-8").replace("@N@", str(parts))
    for mark, text in (
        ("@PARTS@", _PART),
        ("@RUNS@", _RUN),
        ("@CASES@", _CASE),
        ("@IDEAS@", _IDEA),
    ):
        spec = spec.replace(f"{mark}\n", "".join(_filled(text, one) for one in marks))
    right = [f"def answer_{p}(x):\n    return {p + 1} * x\n" for p in range(1, parts + 1)]
    wrong = [f"def answer_{p}(x):\n    return x + {p + 1}\n" for p in range(1, parts + 1)]
    ideas = {f"idea-{p}": f"# TODO a wrong idea\n{text}" for p, text in enumerate(wrong, 1)}
    head = '"""TODO what is asked."""\n\n\n'
    starter = f"{head}# TODO code that looks plausible and holds idea-1\n{wrong[0]}"
    return Template(spec, {"reference": head + "\n\n".join(right), "starter": starter, **ideas})


def _filled(text: str, marks: dict[str, str]) -> str:
    for mark, value in marks.items():
        text = text.replace(mark, value)
    return text
