"""What a page of HTML holds, read by a parser."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "rect", "line", "link", "img", "input", "hr"}


@dataclass
class Page(HTMLParser):
    """Tags with their attributes and text."""

    tags: Counter[str] = field(default_factory=Counter)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)  # tag, name, value
    text: str = ""
    open: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)  # what is not nested well

    @classmethod
    def of(cls, content: str) -> Page:
        """Read one."""
        page = cls()
        HTMLParser.__init__(page, convert_charrefs=True)
        page.feed(content)
        page.close()
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag that is closed at once."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Note whether it closes what is open."""
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        """Gather text."""
        self.text += "" if self.open[-1:] == ["style"] else data

    def values(self, name: str) -> list[str]:
        """Return the values of an attribute anywhere."""
        return [value for _, found, value in self.attributes if found == name]
