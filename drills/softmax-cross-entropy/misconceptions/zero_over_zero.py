"""-y / p for every class, also for those with no weight and no probability."""


def dloss_dp(p, y):
    return -y / p
