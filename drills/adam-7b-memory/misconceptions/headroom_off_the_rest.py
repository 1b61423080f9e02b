"""The headroom is a share of what the state leaves."""


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    left = card_mib * MIB - sum(fsdp_bytes(model, world).values())
    return max(0, int((1 - headroom) * left // _per_token(model, checkpoint)))
