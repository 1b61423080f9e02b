"""Whether this process is the judge's own, such as the command line's.

Only a program's first lines say so.  The first worker that is started then closes its memory to
other programs of its user; a notebook or a server must not find itself changed, and no level of
isolation rests on it.
"""

from __future__ import annotations

own = False
