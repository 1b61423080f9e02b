"""The running statistics are moved in place, in the arrays that were assigned."""


def _fade(old, new, share):
    old *= 1 - share
    old += share * new
    return old
