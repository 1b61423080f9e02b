"""Write the pages that are made from the program: `python docs/generate.py`.

    docs/commands.md             every command's --help
    docs/question.schema.json    the JSON Schema of a question, for editors
    docs/keys.md                 every key of a question, from the same
    docs/class.schema.json       the JSON Schema of a class.yaml
    docs/drill.1                 the same as commands.md, for `man drill`
    docs/curriculum.md           what the questions of the bank are about, from curriculum.yaml

tests/test_docs.py fails while a page is not what this would write.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from grader import bank
from grader.cases import recipe
from grader.classroom.class_file import class_schema as class_schema
from grader.commands.app import load_command
from grader.commands.list_and_next import ROLES
from grader.grading.kinds.schema import question_schema
from grader.model.spec import PART_KEYS, AcceptedSolution, Check, Idea

DOCS = Path(__file__).resolve().parent

_INTRODUCTION = """\
# Commands

Made from the program by `python docs/generate.py`. Every command takes `--help` and, where it
prints anything, `--json`: one JSON document. `--bank PATH`, `--plain`, `--no-pager` and
`--color WHEN` may stand anywhere in a command. `[ID]` is a question; without it, the one of this
folder is meant.
"""
_CURRICULUM = """\
# What the questions are about

Made from [curriculum.yaml](curriculum.yaml) and the bank by `python docs/generate.py`.
"""
_KEYS = """\
# Every key of a question

Made from the model by `python docs/generate.py`; an editor that knows the JSON Schema shows the
same. [authoring.md](authoring.md) shows how a question is written, [format.md](format.md) explains
how its parts work together.
"""
_INPUTS = """\
Every other key is the name of an input: a number, a text, `true`, `null`, a nested list (a literal
array), or one generator with its shape and any modifiers, which are applied in the order of their
table: `{uniform: [2, 3], from: -1, to: 1, dtype: float32}`.
"""
_SOME_ID = "Question (default: the one in this folder)."
_EVERYWHERE = {"json", "help", "install_completion", "show_completion"}
_PARTS = {
    "show": "Show",
    "tolerance": "Tolerance",
    "limits": "Limits",
    "code": "Code",
    "survivors": "Survivor",
    "follow_ups": "FollowUp",
}
_NAMED = {
    "Show": "`show`",
    "Case": "a case",
    "Input": "an input",
    "FollowUp": "`follow_ups`",
}
_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "`true`, `false`",
    "object": "a mapping",
    "null": "`null`",
}


def main() -> None:
    """Write every page."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """Return the text of every page by the name of its file."""
    return {
        "commands.md": commands_page(),
        "question.schema.json": schema_page(),
        "keys.md": keys_page(),
        "curriculum.md": curriculum_page(),
        "class.schema.json": class_schema(),
        "drill.1": manual_page(),
    }


def commands_page() -> str:
    """Return what every command takes: a list for each group."""
    lines = [_INTRODUCTION, "## drill", ""]
    for words, command in _commands():
        below = bool(getattr(command, "commands", {}))
        if below and words:
            lines += ["", f"## drill {' '.join(words)}", ""]
        names = [] if below else [_named(one) for one in command.params if _is_argument(one)]
        typed = " ".join(["drill", *words, *names])
        lines.append(f"- **`{typed}`** {' '.join((command.help or '').split())}")
        lines += [
            f"  - `{_named(one)}`: {one.help}"
            for one in command.params
            if one.help and one.name not in _EVERYWHERE and one.help != _SOME_ID
        ]
    return "\n".join(lines) + "\n"


def manual_page() -> str:
    """Return the same for `man drill`."""

    def safe(text: str) -> str:
        return " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")

    lines = [".TH DRILL 1", ".SH NAME", ""]
    for words, command in _commands():
        about = safe(command.help or "")
        if not words:
            lines[2] = f"drill \\- {about.rstrip('.')}"
            lines += [".SH SYNOPSIS", ".B drill", "[OPTIONS] COMMAND [ARGS]...", ".SH OPTIONS"]
        elif hasattr(command, "commands"):
            lines += [f".SH {safe(' '.join(words)).upper()}", about]
            continue
        else:
            lines += [".SH COMMANDS"] * (".SH COMMANDS" not in lines)
            names = [_named(one) for one in command.params if _is_argument(one)]
            lines += [".SS " + safe(" ".join([*words, *names])), about]
        for one in command.params:
            if one.help and not _is_argument(one) and (not words or one.name not in _EVERYWHERE):
                lines += [".TP", f".B {safe(_named(one))}", safe(one.help)]
    return "\n".join(lines) + "\n"


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and group, the bare `drill` first."""
    return (words for words, _ in _commands())


def _commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    waiting: list[tuple[tuple[str, ...], Any]] = [((), load_command())]
    while waiting:
        words, command = waiting.pop(0)
        yield words, command
        below: dict[str, Any] = getattr(command, "commands", {})
        waiting[:0] = [((*words, name), found) for name, found in below.items()]


def _is_argument(parameter: Any) -> bool:  # noqa: ANN401 - typer's own
    return bool(parameter.param_type_name == "argument")


def _named(parameter: Any) -> str:  # noqa: ANN401 - typer's own
    """An option as it is typed, or what stands for an argument."""
    shown = parameter.metavar or parameter.name.upper()
    if _is_argument(parameter):
        return shown if parameter.required else f"[{shown}]"
    value = "" if parameter.is_flag else f" {shown}"
    return f"{', '.join(parameter.opts)}{value}"


def schema_page() -> str:
    """Return the schema; editors find it by the first line of a spec."""
    return question_schema()


def curriculum_page() -> str:
    """Return what there is to know, with the questions that ask it."""
    heads = bank.headers([DOCS.parent])
    there = {head.id for head in heads}
    written = yaml.safe_load((DOCS / "curriculum.yaml").read_text("utf-8"))
    missing = written.pop("Not covered")
    lines = [
        _CURRICULUM,
        "| question | track | level | minutes | roles | better after |",
        "|---|---|---|---|---|---|",
    ]
    for head in sorted(heads, key=lambda one: (one.track, one.id)):
        before, roles = ", ".join(head.prerequisites), ", ".join(head.roles)
        row = (f"`{head.id}`", head.track, head.level, str(head.minutes), roles, before)
        lines.append(f"| {' | '.join(row)} |")
    lines += ["", "| track | what there is to know | asked by |", "|---|---|---|"]
    for track, items in written.items():
        for text, asked in items.items():
            found = ", ".join(f"`{name}`" for name in asked if name in there)
            lines.append(f"| {track} | {text} | {found or 'not covered yet'} |")
    for role in ROLES:
        mine = [head for head in heads if role in head.roles]
        hours = f"{sum(head.minutes for head in mine) / 60:.0f} hours"
        lines += ["", f"## {role.capitalize()}", "", f"{len(mine)} questions, {hours}:", ""]
        for track in sorted({head.track for head in mine}):
            named = ", ".join(f"`{head.id}`" for head in mine if head.track == track)
            lines.append(f"- {track}: {named}")
        lines += ["", "Not covered:", "", *(f"- {text}" for text in missing[role])]
    return "\n".join(lines) + "\n"


def keys_page() -> str:
    """Return a table of the keys of every part of a question."""
    whole = json.loads(question_schema())
    parts = whole["$defs"]
    kinds = {
        parts[name]["properties"]["kind"]["const"]: name
        for one in whole["properties"]["checks"]["items"]["anyOf"][1]["oneOf"]
        for name in [one["$ref"].rpartition("/")[2]]
    }
    common = list(Check.model_fields)
    part, first = parts["Part"], parts[next(iter(kinds.values()))]
    lines = [_KEYS, "## A question", "", *_HEAD, *_rows(whole, without=PART_KEYS), ""]
    lines += ["## parts: a part", "", part["description"], "", *_HEAD, *_rows(part), ""]
    lines += ["## cases: a case", "", *_words("key", recipe.RESERVED), "", _INPUTS]
    lines += [*_words("generator", recipe.GENERATORS), ""]
    lines += [*_words("modifier", recipe.MODIFIERS), ""]
    lines += ["## checks: every kind", "", *_HEAD, *_rows(first, only=common), ""]
    lines += [
        "## checks: one kind",
        "",
        "[format.md](format.md#what-a-check-decides) says when each passes.",
        "",
    ]
    lines += [f"| kind {_HEAD[0]}", f"|---{_HEAD[1]}"]
    for kind, name in kinds.items():
        lines += [f"| `{kind}` {row}" for row in _rows(parts[name], without=common)]
    lines += ["", "## Mappings in these", "", f"| in {_HEAD[0]}", f"|---{_HEAD[1]}"]
    for key, name in _PARTS.items():
        lines.append(f"| `{key}` | | | | {' '.join(parts[name]['description'].split())} |")
        lines += [f"| `{key}` {row}" for row in _rows(parts[name])]
    lines += ["", "## ideas.py, accepted.py: `# key: value` above a program", ""]
    lines += [f"| in {_HEAD[0]}", f"|---{_HEAD[1]}"]
    for file, model in (("ideas.py", Idea), ("accepted.py", AcceptedSolution)):
        rows = _rows(model.model_json_schema(), without=["feedback"])
        lines += [f"| `{file}` {row}" for row in rows]
    return "\n".join(lines) + "\n"


def _words(first: str, meanings: Mapping[str, str]) -> list[str]:
    rows = [f"| `{word}` | {text} |" for word, text in meanings.items()]
    return [f"| {first} | meaning |", "|---|---|", *rows]


_HEAD = ["| key | is | default | meaning |", "|---|---|---|---|"]


def _rows(part: Any, only: Sequence[str] = (), without: Sequence[str] = ()) -> Iterator[str]:  # noqa: ANN401 JSON
    for key, found in part["properties"].items():
        if key in without or (only and key not in only):
            continue
        kind = "text" if only and key == "kind" else _type(found)
        default = "needed" if key in part.get("required", ()) else _default(found.get("default"))
        yield f"| `{key}` | {kind} | {default} | {found.get('description', '')} |"


def _default(value: object) -> str:
    return (
        "" if value in ("", [], {}, None) or isinstance(value, dict) else f"`{json.dumps(value)}`"
    )


def _type(found: Any) -> str:  # noqa: ANN401 JSON
    """Return in words what a part of the schema allows."""
    match found:
        case {"const": value}:
            return f"`{value}`"
        case {"enum": values}:
            return ", ".join(f"`{v}`" for v in values if v != "")
        case {"anyOf": several}:
            wanted = [
                s for s in several if s not in ({"type": "null"}, {"const": "", "type": "string"})
            ]
            return " or ".join(dict.fromkeys(map(_type, wanted)))
        case {"$ref": ref}:
            return _NAMED.get(ref.rpartition("/")[2], "a mapping")
        case {"items": {"anyOf": [_, {"discriminator": _}]}}:
            return "list of checks, see below, or of kinds"
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case {"type": "array"}:
            return "list"
        case {"type": "object", "additionalProperties": {} as values}:
            return f"mapping to {_type(values)}"
        case {"type": name}:
            return _TYPES[name]
        case _:
            return "anything"


if __name__ == "__main__":
    main()
