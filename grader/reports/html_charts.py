"""What people would rather look at than read, as HTML: maps of arrays, bars of bytes, curves.

Nothing in it is fetched or run, and no text is markup.  Each picture is given the words and the
HTML that say the same, for those who do not see it and for what there is nothing to draw of.

Colors lie over the background of the page, whichever it is, and none is the only sign of anything:
what is below zero carries a minus, what is too much lies beyond a line, curves differ in strokes.
"""

from __future__ import annotations

import html
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, product

from grader.model.number_format import format_aligned_numbers, format_number
from grader.model.report import Bar, Bars, Curve, Grids, Panel
from grader.reports.text_layout import display_width, escape_line, truncate

_PRINTED = (96, 16, 12)  # entries, rows and columns, at most, of a map that shows numbers
_ACROSS = 240  # pixels of a map without numbers
_SHADES, _DEEPEST = 8, 0.6  # an opacity over which both black and white can be read
_LETTER, _LINE, _GAP = 8, 24, 12  # pixels
_LONGEST, _WIDEST = 16, 60  # letters of a cell, of a title
_POINTS, _DOTS = 400, 12  # of a curve: the most that are drawn, and so few that each is marked
_DECADES = 1e3  # ratio of its ends from which on a curve is drawn over powers of ten
_HELD = "Millions of bytes held, from the first operation to the last, forward and backward: "
_SIZE = re.compile(r"(\d[\d,]{0,30}) bytes?$")
_BOUND = re.compile(r"(?:above|below) (-?\d[\d,]{0,30}(?:\.\d+)?(?:e-?\d+)?)$")


def heat_maps(grids: Grids, said: str, rest: str) -> str:
    """The inputs; the result, yours and expected in the same colors; how far off it is."""
    if (entries := grids.entries) is None or len(grids.panels) < 2:  # large, or hidden in a class
        return rest
    *inputs, yours, expected = grids.panels
    count = math.prod(entries.shape)
    mine = entries.yours
    right = entries.expected
    if not len(mine) == len(right) == count > 0 or min(entries.shape, default=1) < 1:
        return rest
    long = tuple(n for n in entries.shape if n != 1)
    shape = long if len(long) < 3 <= len(entries.shape) else entries.shape
    shape = (*(1,) * (2 - len(shape)), *shape)
    wrong = {*entries.wrong}
    off = [mine[at] - right[at] if at in wrong else 0.0 for at in range(count)]
    texts: list[Sequence[str]] = [(), (), ()]
    printed = all(n <= most for n, most in zip((count, *shape[-2:]), _PRINTED, strict=True))
    if printed:
        both = format_aligned_numbers([*mine, *right])
        apart = enumerate(format_aligned_numbers(off))
        texts = [both[:count], both[count:], [t if at in wrong else "" for at, t in apart]]
    top = _top([*mine, *right])
    most = _top(off)
    framed = wrong if printed and len(wrong) < count else ()
    given = (_given(panel) for panel in inputs if panel.rows)
    letters = max((len(text) for every in texts for text in every), default=0)
    result = (
        _svg(yours.title, shape, texts[0], mine, top, framed, letters),
        _svg(expected.title, shape, texts[1], right, top, letters=letters),
        _svg("yours - expected", shape, texts[2], off, most, letters=letters),
    )
    odd = f", {_key('odd')} NaN or infinity" * (not all(map(math.isfinite, (*mine, *right))))
    key = (
        f"{_key('below')} below zero{'' if printed else ', with a dash'}, {_key('above')} above it"
        f"{odd}; deepest at {format_number(top)}, in the difference at {format_number(most)}. What is allowed is"
        f" left out of that.{' Framed in yours: wrong.' if framed else ''}"
    )
    maps = f'<div class="maps">{"".join(given)}<div class="maps">{"".join(result)}</div></div>'
    return _figure(maps, said, key) + ("" if printed else rest)


def _given(panel: Panel) -> str:
    """An input, as its panel shows it, with what is in focus framed."""
    across = max(map(len, panel.rows))
    texts = [text for row in panel.rows for text in (*row, *[""] * (across - len(row)))]
    framed = {r * across + c for r, c in panel.focus}
    framed = framed if len(framed) < len(texts) else set()
    title = f"{panel.title} ({panel.note})" if panel.note else panel.title
    return _svg(title, (len(panel.rows), across), texts, framed=framed)


def _top(values: Iterable[float]) -> float:
    return max((abs(v) for v in values if math.isfinite(v)), default=0.0)


def _svg(
    title: str,
    shape: Sequence[int],
    texts: Sequence[str],
    values: Sequence[float] = (),
    top: float = 0.0,
    framed: Collection[int] = (),
    letters: int = 0,
) -> str:
    """An array, its planes side by side as far as there is room.

    `values` color its cells, the deepest at `top`; these have room for so many `letters`.
    """
    *leading, rows, columns = shape
    title = truncate(escape_line(title), _WIDEST)
    texts = [truncate(escape_line(text), _LONGEST) for text in texts]
    if texts:
        wide = _LETTER * max(letters, *map(display_width, texts)) + 14
        tall = _LINE
    else:
        side = max(3, min(_ACROSS // max(rows, columns), 18))
        wide, tall = (18 if many == 1 else side for many in (columns, rows))
    planes = list(product(*map(range, leading)))
    beside = min(len(planes), max(1, _ACROSS // (wide * columns)))
    head = _LINE * bool(leading)  # of each plane
    down = tall * rows + head + _GAP  # from one to the next
    colors = defaultdict[tuple[str, int], str](str)
    lines = dict.fromkeys(("edge", "mark", "frame"), "")
    words = _text(1, 15, title)
    for at, index in enumerate(planes):
        left = at % beside * (wide * columns + _GAP) + 1
        above = _LINE + at // beside * down + head
        words += _text(left, above - 7, f"[{', '.join(map(str, index))}]") if index else ""
        lines["edge"] += _box(left, above, wide * columns, tall * rows)
        for place in range(rows * columns):
            x = left + place % columns * wide
            y = above + place // columns * tall
            place += at * rows * columns
            kind, shade = _color(values[place], top) if values else ("", 0)
            colors[kind, shade] += _box(x, y, wide, tall)
            if texts:
                words += _text(x + wide - 7, y + 16, texts[place], "number")
            elif kind == "below":
                lines["mark"] += f"M{x + wide / 4:g} {y + tall / 2:g}h{wide / 2:g}"
            elif kind == "odd":
                lines["mark"] += f"M{x} {y}l{wide} {tall}m0 -{tall}l-{wide} {tall}"
            if place in framed:
                lines["frame"] += _box(x + 2, y + 2, wide - 4, tall - 4)
    colors.pop(("", 0), None)
    paths = "".join(
        f'<path class="{kind}" fill-opacity="{_DEEPEST * shade / _SHADES:g}" d="{boxes}"/>'
        for (kind, shade), boxes in colors.items()
    )
    paths += "".join(f'<path class="{kind}" d="{line}"/>' for kind, line in lines.items() if line)
    across = max(beside * (wide * columns + _GAP) - _GAP, _LETTER * display_width(title)) + 2
    height = _LINE + -(-len(planes) // beside) * down
    size = f'width="{across}" height="{height}" viewBox="0 0 {across} {height}"'
    return f"<svg {size}><title>{html.escape(title)}</title>{paths}{words}</svg>"


def _color(value: float, top: float) -> tuple[str, int]:
    """The class of a value and its shade, from 1; no class at zero."""
    if not math.isfinite(value):
        return "odd", _SHADES
    shade = math.ceil(abs(value) / top * _SHADES) if value else 0
    return ("below" if value < 0 else "above") if shade else "", shade


def _box(x: float, y: float, wide: float, tall: float) -> str:
    return f"M{x:g} {y:g}h{wide:g}v{tall:g}h-{wide:g}z"


def _text(x: float, y: float, text: str, of: str = "") -> str:
    of = f' class="{of}"' if of else ""
    return f'<text x="{x:g}" y="{y:g}"{of}>{html.escape(escape_line(text))}</text>'


def bar_chart(shown: Sequence[Bar], every: Bars, called: str, said: str, rest: str) -> str:
    """Bars above a common line, the budget drawn through all; what was kept, one after another.

    Below them, of a peak, the bytes that were held from the beginning to the end.
    """
    kept = every.details
    sizes = [float(m[1].replace(",", "")) if (m := _SIZE.search(one)) else 0.0 for one in kept]
    ends = [0.0, *accumulate(sizes)]
    most = max([ends[-1], *(bar.value for bar in shown if math.isfinite(bar.value))])
    if most <= 0:
        return rest
    budget = next((bar.value for bar in shown if bar.label == "allowed"), math.inf)
    rows = [(b.label, b.text, 0.0, min(b.value, most) if b.value > 0 else 0.0) for b in shown]
    for at, one in enumerate(kept):
        rows.append((called * (not at), one, ends[at], ends[at + 1]))
    made = ""
    for label, text, begin, end in rows:
        drawn = ""
        over = max(begin, budget)
        for kind, a, b in ("within", begin, min(end, budget)), ("beyond", over, end):
            x = f"{100 * a / most:.2f}%"
            wide = f"{100 * max(b - a, 0) / most:.2f}%"
            drawn += f'<rect class="{kind}" x="{x}" y="20%" width="{wide}" height="60%"/>' * (b > a)
        x = f"{100 * min(budget / most, 2):.2f}%"  # beyond all bars it is not seen
        drawn += f'<line class="bound" x1="{x}" x2="{x}" y1="0" y2="100%"/>' * (budget <= most)
        label, text = (html.escape(escape_line(words)) for words in (label, text))
        drawn = f'<svg aria-hidden="true">{drawn}</svg>'
        made += f"<tr><th>{label}</th><td>{drawn}</td><td>{text}</td></tr>\n"
    made = f'<table class="bars">\n{made}</table>\n'
    if len(every.course) != 2:
        return made
    yours, right = (tuple(n / 1e6 for n in course) for course in every.course)
    return made + curve_chart(Curve(yours, right), f"below {budget / 1e6:.6g}", said, "", _HELD)


def curve_chart(shown: Curve, bound: str, said: str, rest: str, about: str = "") -> str:
    """Yours and a right one over the steps, and the line above or below which they have to end."""
    lines = {"yours": shown.yours, "a right one": shown.expected}
    if held := _BOUND.match(bound):
        lines[bound] = (float(held[1].replace(",", "")),) * 2
    finite = [value for values in lines.values() for value in values if math.isfinite(value)]
    if not any(map(math.isfinite, (*shown.yours, *shown.expected))):
        return rest
    low = min(finite)
    high = max(finite)
    by_tens = low > 0 and high / low >= _DECADES

    def place(value: float) -> float:
        return math.log10(value) if by_tens else value / 2  # of the largest numbers, too

    across = place(high) - place(low) or 1.0
    paths = ""
    key = []
    for (label, values), kind in zip(lines.items(), ("yours", "right", "bound"), strict=False):
        last = max(len(values) - 1, 1)
        pen = "M"
        path = ""
        few = kind != "bound" and last < _DOTS
        for at in sorted({round(n * last / _POINTS) for n in range(_POINTS + 1)}):
            if at >= len(values) or not math.isfinite(values[at]):
                pen = "M"
                continue
            up = (place(values[at]) - place(low)) / across
            path += f"{pen}{100 * at / last:.4g} {96 - 92 * up:.4g}{'h0' * (pen == 'M' or few)}"
            pen = "L"
        paths += f'<path class="{kind}" d="{path}"/>'
        if few:
            paths += f'<path class="{kind} dots" d="{path.replace("L", "M")}"/>'
        ends = f", ends at {format_number(values[-1])}" if kind != "bound" and values else ""
        key.append(f"{_key(kind, 'M0 7h28')} {html.escape(escape_line(label))}{ends}")
    steps = max(len(shown.yours), len(shown.expected)) - 1
    first, end = ("begin", "end") if about else ("step 0", f"{steps:,}")
    drawn = (
        f'<div class="plot"><div><span>{format_number(high)}</span><span>{format_number(low)}</span></div>'
        f'<svg viewBox="0 0 100 100" preserveAspectRatio="none">{paths}</svg>'
        f"<i></i><div><span>{first}</span><span>{end}</span></div></div>"
    )
    return (
        _figure(drawn, said, about + "; ".join(key) + "; upward in powers of ten" * by_tens) + rest
    )


def _key(kind: str, path: str = "M1 1h26v12h-26z") -> str:
    """A line or a color, as it stands in a picture, for the sentence below it."""
    opacity = f' fill-opacity="{_DEEPEST}"'
    return f'<svg class="key" aria-hidden="true"><path class="{kind}"{opacity} d="{path}"/></svg>'


def _figure(drawn: str, said: str, key: str) -> str:
    words = html.escape(" ".join(said.split()))
    picture = f'<div role="img" aria-label="{words}">{drawn}</div>'
    return f"<figure>\n{picture}\n<figcaption>{key}</figcaption></figure>\n"
