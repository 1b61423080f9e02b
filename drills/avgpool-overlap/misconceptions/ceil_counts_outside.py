"""If padding is counted, both passes divide by kernel * kernel, also beyond the padded plane."""


def _within_padding(starts, ends, length, padding):
    return ends - starts
