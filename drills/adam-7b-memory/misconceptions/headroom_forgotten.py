"""The whole card is filled."""


def _usable(card_mib, headroom):
    return card_mib * MIB
