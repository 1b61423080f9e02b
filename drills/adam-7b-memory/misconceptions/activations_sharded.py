"""The tokens that fit on all GPUs together, as if activations were sharded like the state."""


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = _usable(card_mib, headroom) - sum(fsdp_bytes(model, world).values())
    return max(0, int(world * room // _per_token(model, checkpoint)))
