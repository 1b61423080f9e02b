"""A token is kept if it has at least top_p times the probability of the best one."""


def _nucleus(shares, top_p):
    return shares if top_p == 1 else shares[shares >= top_p * shares[:1]]
