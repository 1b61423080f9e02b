"""An fp32 copy of the weights beside the fp32 shards."""

_without_a_copy = fsdp_bytes


def fsdp_bytes(model, world):
    return {**_without_a_copy(model, world), "master": FP32 * model["params"] / world}
