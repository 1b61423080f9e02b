"""The quotient is taken whether or not there is room."""


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = _usable(card_mib, headroom) - sum(fsdp_bytes(model, world).values())
    return int(room // _per_token(model, checkpoint))
