"""Wrong idea: sums are divided by the count even where it is 0, in numpy, which gives NaN."""


def _mean(loss, dE, dU, count):
    with np.errstate(invalid="ignore"):
        return np.float64(loss) / count, dE / count, dU / count
