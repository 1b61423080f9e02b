"""Sets of numbers: a seed decides which one a question with `given` draws."""

import math

MAX_SETS = 12  # sets of numbers in one question

# Seed N draws set N modulo the number of sets: seeds this far apart draw the same one.
PERIOD = math.lcm(*range(1, MAX_SETS + 1))
