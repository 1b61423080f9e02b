"""Every limit on time, memory, output, files and sizes that a submission or a bank has to keep.

A limit that is also needed inside a worker is in `sandbox/worker/limits.py`, because a worker can
import nothing from here.  A number that only decides how much work an algorithm does is not a
limit in this sense; it stays with the algorithm.
"""

from __future__ import annotations

# -- time: seconds of CPU time, unless the comment says "by the clock" -----------------------------

GRADE_SECONDS = 120  # by the clock: a whole grade with its explanation
CALL_SECONDS = 5.0  # one call, unless the question sets a limit
# If the reference is fast, a call has less time: SLOWEST_CALL_FACTOR times the slowest call of the
# reference, but at least MIN_CALL_SECONDS.  The slowest right solution in plain loops took 0.5 s.
MIN_CALL_SECONDS = 1.5
SLOWEST_CALL_FACTOR = 250
MEASURE_SECONDS = 60  # one numerical derivative, or one measured quantity
EXTRA_CALL_SECONDS = 2.0  # a request with extra inputs, which only serve an explanation
# One request for many runs, without and with torch, whose first calls are slow.  If they do not
# finish in time, the runs are requested one at a time.
PREFETCH_SECONDS = {False: 1.0, True: 2.0}
# By the clock: a process that neither runs nor waits for a core.  The second limit holds if it is
# unknown how long it waited: it may only seem idle, because other programs use the machine.
IDLE_SECONDS = 5.0
UNSURE_IDLE_SECONDS = 25.0
# By the clock, without and with torch: from the start of a process to its first answer.  Importing
# numpy takes a tenth of a second, and much longer from a cold disk.
START_SECONDS = {False: 30.0, True: 120.0}
END_SECONDS = 5.0  # by the clock: until a process that was told to end is gone
EXIT_GRACE_SECONDS = 2.0  # by the clock: until a process that closed its channel has ended
LOCATION_SECONDS = 1.0  # by the clock: until a stopped process has printed its current line
CPU_SECONDS = 120  # all that a worker does for one submission
BANK_CPU_SECONDS = 3600  # all that a worker does for a bank; it lives as long as the session
MAX_BANK_CPU_NANOSECONDS = BANK_CPU_SECONDS * 10**9 // 2  # after which the bank's worker is renewed
# One call of a mutant may take this multiple of a call of the reference, but at least
# MIN_MUTANT_CALL_SECONDS, in which every reference finishes, even on a busy machine.
MIN_MUTANT_CALL_SECONDS = 1.0
MUTANT_CALL_FACTOR = 30.0
MAX_REFERENCE_SECONDS = 0.1  # by the clock: the reference on an input that is to expose a mutant
MAX_GRADE_SECONDS = 900.0  # by the clock: one job of a class, several times the longest grade
AUTOGRADER_SECONDS = 540  # by the clock: Gradescope ends a grade after 10 minutes, with a zero

# -- memory and threads ----------------------------------------------------------------------------

# Bytes of a worker, without and with torch; numpy alone takes 0.14 GB.
MAX_MEMORY_BYTES = {False: 1 << 30, True: 8 << 30}
# Bytes above which a bank's worker is renewed before the next program, without and with torch.
MAX_BANK_MEMORY_BYTES = {False: 256 << 20, True: 1 << 30}
SPARE_THREADS = 64  # threads of a worker, in addition to those of its user

# -- output and files ------------------------------------------------------------------------------

MAX_OUTPUT_BYTES = 16 << 20  # printed; more ends the worker
MAX_KEPT_OUTPUT_BYTES = 64 << 10  # at the end of the output, kept for the reader
MAX_KEPT_BEGINNING_BYTES = 16 << 10  # at the beginning of the output, kept as well
MAX_REPORTED_OUTPUT = 4000  # characters at the end of the output that a report contains
MAX_LOCATION_BYTES = 1 << 20  # read in search of the current line of a stopped process
MAX_WRITTEN_BYTES = 64 << 20  # written in all, output and deleted files included
MAX_SCRATCH_BYTES = 64 << 20  # of all files in a worker's folder
MAX_SCRATCH_FILES = 1000  # in a worker's folder

# -- replies of a worker ---------------------------------------------------------------------------

# Bytes of arrays in a reply: at most SPARE_REPLY_BYTES, plus this multiple of the inputs' bytes.
SPARE_REPLY_BYTES = 1 << 20
REPLY_SIZE_FACTOR = 8
MAX_TESTED_REPLY_BYTES = 8 << 20  # of arrays in one call between a test and the tested code
MAX_TESTED_CALLS = 10_000  # in one run of a test; a driver may reject a few hundred already
MAX_KEPT_NAME_LENGTH = 400  # characters of the description of a tensor that is kept

# -- files of a submission and a workspace ---------------------------------------------------------

MAX_SUBMISSION_BYTES = 1 << 20  # of its source; the longest right solution takes 5 KB
MAX_SUBMISSION_FILE_BYTES = 1_000_000  # of a program's file: a thousand times an honest one
MAX_ANSWER_BYTES = 64 << 10  # of a file with answers
# Bytes of other files of a class: a notebook with the pictures of its cells, a zip file and all
# that is unpacked from it, and Gradescope's list with the output of all programs.
MAX_BYTES_BY_SUFFIX = {".ipynb": 16_000_000, ".zip": 64_000_000, ".yml": 64_000_000}
MAX_STUDENT_FILES = 20  # of one student for one question
MAX_ARCHIVE_ENTRIES = 20_000  # files in a zip file and in the zip files inside it
MAX_ARCHIVE_DEPTH = 3  # zip files inside each other
MAX_PATH_LENGTH = 1000  # characters of a path in a class
MAX_NOTEBOOK_VALUES = 400_000  # lists and objects in a notebook
MAX_MARKER_BYTES = 10_000  # of the file `.drill`
MAX_QUESTION_FILE_BYTES = 1 << 20  # of a QUESTION.md that is compared with the new one
MAX_SCRIPT_BYTES = 10_000_000  # of an old script of a case, which may have been edited

# -- files of a bank -------------------------------------------------------------------------------

MAX_SPECS = 1000  # specs of a bank: every list of questions reads the head of each
MAX_ID_LENGTH = 60  # characters of an id
MAX_SOURCE = 1 << 20  # bytes of a spec or a program; the longest known takes 30 KB
MAX_MUTANT_BYTES = 64 << 20  # of all mutants of a program; those of the bank take up to 4 MB
MAX_PROOF_BYTES = 1 << 18  # of a proof; the longest known takes 10 KB
MAX_HEAD_BYTES = 1 << 18  # of a spec, within which its head must end
# Events of YAML up to the end of the head, or of the parts.  They limit the time, as bytes do not.
MAX_HEAD_EVENTS = 5000
MAX_YAML_NODES = 50_000  # of a spec
MAX_YAML_DEPTH = 40  # mappings and lists inside each other
MAX_YAML_ENTRIES = 200  # of a mapping, or of a list with anything but numbers: checks, cases, steps
MAX_YAML_WORD = 100  # letters of a key or a number; Python's own limits are much higher
MAX_YAML_PROBLEMS = 100  # problems of one file that are listed
MAX_CASE_ENTRIES = 4_000_000  # of all inputs of a case: 32 MB, which go to two processes
MAX_DRAWS = 24  # draws of a case; each is a case
