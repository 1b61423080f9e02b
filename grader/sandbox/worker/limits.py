"""The limits that a worker itself needs; all others are in `grader/model/limits.py`.

Both sides import this file.  A worker imports no other part of the program.  Limits that depend on
the machine or the question are in its configuration.
"""

from __future__ import annotations

# -- one frame on the wire -------------------------------------------------------------------------

MAX_META_BYTES = 1 << 20  # of structure; decoded it takes at most 40 times as many
MAX_FRAME_DEPTH = 18  # values inside each other
MAX_FRAME_ITEMS = 20_000  # values
MAX_DIMS = 8  # dimensions of an array
MAX_TEXT_BYTES = 1 << 16  # of one text
# Of one integer: every integer within these limits is also a finite float.
MAX_INTEGER_BITS = 1010
MAX_INTEGER_DIGITS = 305

# -- one reply -------------------------------------------------------------------------------------

MAX_VALUE_DEPTH = 12  # values inside each other in a result
MAX_KEPT_NAMES = 32  # names of tensors that are kept; the largest come first
MAX_PRODUCTS = 256  # different products of matrices
MAX_COURSE_POINTS = 60  # points of the curve of bytes alive during a run
MAX_FRAMES = 6  # lines of a traceback
MAX_MESSAGE = 2000  # characters of the text of an exception
MAX_SEVERAL_SECONDS = 0.5  # of CPU time for several runs in one request; the rest is left out

# -- calls between a test and the tested code ------------------------------------------------------

MAX_CALL_BYTES = 1 << 20  # of arrays in one call
MAX_SHARED_RESULTS = 64  # results that are remembered, because a later one may share their memory

# -- the process -----------------------------------------------------------------------------------

MAX_FILE_BYTES = 16 << 20  # of one file
MAX_OPEN_FILES = 64  # at once
