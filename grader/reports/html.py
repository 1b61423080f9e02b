"""HTML pages that fetch nothing and run no script but ours.

The styles of `.drill` are the same on a separate page and in a notebook, and take its colors.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from html import escape

from grader.reports.blocks import Block, Heading, render_html
from grader.reports.text_layout import escape_line

_PAGE = """\
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 52rem;
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
@media print { body { max-width: none; padding: 0; } #find { display: none; } }
"""
_BODY = """\
.drill {
  h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
  h2 { font-size: 1.2rem; margin: 2.5rem 0 .25rem; padding-top: .75rem;
    border-top: 1px solid #8885; }
  h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
  p, ul { margin: .5rem 0; }
  code, pre, svg, .plot { font-family: ui-monospace, monospace; font-size: .9em; }
  pre { padding: .6rem .75rem; background: #8882; overflow-x: auto; line-height: 1.35; }
  table { border-collapse: collapse; display: block; overflow-x: auto; margin: .75rem 0; }
  th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8885;
    overflow-wrap: break-word; }
  .soft { opacity: .75; }
  .reverse { background: CanvasText; color: Canvas; padding: 0 .35em; }
  .marked { background: #e5871b33; }
  figure { margin: 1rem 0; break-inside: avoid; }
  figcaption { font-size: .85em; margin-top: .25rem; opacity: .85; }
  .maps { display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; overflow-x: auto; }
  .maps svg { flex: none; font-size: 13px; fill: currentColor; }
  .number { text-anchor: end; }
  .above, .beyond { fill: #e5871b; } .below, .within { fill: #2f7fd6; } .odd { fill: #888; }
  .edge, .mark, .frame { fill: none; stroke: currentColor; stroke-opacity: .4; }
  .mark { stroke-opacity: .8; } .frame { stroke-width: 2; stroke-opacity: .9; }
  .key { width: 28px; height: 14px; vertical-align: -2px; }
  .bars { display: table; width: 100%; overflow: visible; break-inside: avoid; }
  .bars :is(th, td) { border: 0; padding-block: 0; font-weight: normal; white-space: nowrap; }
  .bars td:nth-child(2) { width: 100%; min-width: 6rem; }
  .bars svg { display: block; width: 100%; height: 1.8rem; overflow: visible; }
  .plot { display: grid; grid-template-columns: auto 1fr; gap: .2rem .5rem; text-align: right; }
  .plot div { display: flex; flex-direction: column; justify-content: space-between; }
  .plot i + div { flex-direction: row; }
  .plot svg { width: 100%; height: 12rem; background: #8882; overflow: visible; }
  .yours, .right, .bound { fill: none; stroke: currentColor; stroke-width: 2;
    vector-effect: non-scaling-stroke; stroke-linecap: round; }
  .yours { stroke: #e5871b; stroke-width: 3; } .right { stroke: #2f7fd6; stroke-dasharray: 7 4; }
  .bound { stroke-dasharray: 2 4; }
  .dots { stroke-width: 8; stroke-dasharray: none; }
}
@media print {
  .drill pre { white-space: pre-wrap; }
  .drill .maps svg { max-width: 100%; }
  .drill .reverse { background: none; color: inherit; border: 1px solid; }
}
@media screen and (max-width: 40rem) {
  .drill .bars tr { display: grid; grid-template-columns: 7rem 1fr; }
  .drill .bars td:last-child { grid-column: 2; white-space: normal; }
}
"""


def html_page(title: str, body: Iterable[str], script: str = "") -> Iterator[str]:
    """Yield the pieces of an HTML page that loads nothing, and runs no script but this one."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    if script:
        digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{digest}'"
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="robots" content="noindex">\n<title>{escape(escape_line(title))}</title>\n'
        f'<style>\n{_PAGE}{_BODY}</style>\n</head>\n<body>\n<main class="drill">\n'
    )
    yield from body
    if script:
        yield f"<script>{script}</script>\n"
    yield "</main>\n</body>\n</html>\n"


def standalone_page(title: str, blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the pieces of an HTML page with a title and blocks, without a script."""
    return html_page(title, [render_html([Heading(title, level=1), *blocks])])


def html_fragment(blocks: Iterable[Block]) -> str:
    """Return blocks as HTML with their styles, to put into another page such as a notebook."""
    return f'<div class="drill">\n<style>\n{_BODY}</style>\n{render_html(blocks)}</div>\n'
