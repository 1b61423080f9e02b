"""A tenth of the card is kept free, whatever share is asked for."""


def _usable(card_mib, headroom):
    return 0.9 * card_mib * MIB
