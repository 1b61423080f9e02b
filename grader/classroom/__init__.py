"""A class of submissions: found, graded once each however often it is begun, and looked at."""
