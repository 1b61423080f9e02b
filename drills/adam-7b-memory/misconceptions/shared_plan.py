"""A pure function may be cached whatever it returns."""

import functools

training_state = functools.lru_cache(training_state)
