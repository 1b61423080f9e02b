def _restore(rng, there):
    pass
