"""What has to be closed, as a context manager."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """Gives a class with `close` the two methods of a context manager."""

    def close(self) -> None:
        """Give back what is held; a second call does nothing."""
        raise TypeError(f"{type(self).__name__} does not say how it is closed")

    def __enter__(self) -> Self:
        """Return the thing itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it, whatever happened."""
        self.close()
