# %% approves
# killed_by: review
"""You approved. Run both versions on shards of 2, 5 and 7 rows before you believe "same numbers".
"""

def review():
    return {"approve": "yes"}

# %% lists-nothing
# killed_by: review
"""You asked for changes and named none. Which line would you have them change?"""

def review():
    return {"approve": "no"}

# %% stops-at-the-loop
# killed_by: review
"""You list what the first test with two micro-batches shows. Repair it in your head and go on; the
new version is not the old one yet."""

def review():
    return {"12": "overwritten", "approve": "no"}

# %% ranks-are-averaged
# killed_by: review
"""One is left. With shards of 2 and 7 rows, by how much does a row of the first count in a mean of
two means? Averaging ranks is what all-reduce does, and is right for equal ranks only."""

right = review

def review():
    return {line: why for line, why in right().items() if why != "unequal-ranks"}

# %% clipping-is-linear
# killed_by: review
"""One is left. Two ranks have gradients of norms 10 and 0.1, and clip is 1. What is the mean of the
clipped ones, and what is the clipped mean? A norm is known once the gradient is whole."""

right = review

def review():
    return {line: why for line, why in right().items() if why != "clipped-too-early"}

# %% in-place-is-cheaper
# killed_by: review
"""One is left. Every number that the step returns may be right, and somebody who kept the old
params, for an average or a comparison, has the new ones. Read the contract's last clause again."""

right = review

def review():
    return {line: why for line, why in right().items() if why != "caller-changed"}

# %% padded-count
# killed_by: review
"""One is left. 5 rows come in micro-batches of 2: what is acc divided by, and how many rows went
into it?"""

right = review

def review():
    return {line: why for line, why in right().items() if why != "wrong-count"}

# %% blames-momentum
# killed_by: review
"""You list lines 7 and 17, which are right. velocity = 0.9 * velocity + gradient is the contract's
momentum, without dampening, and the number of ranks is what it says."""

right = review

def review():
    return {**right(), "17": "not-averaged", "7": "wrong-count"}
