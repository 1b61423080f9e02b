"""In use the whole model is gathered in bf16."""


def fsdp_bytes(model, world):
    parts = {part: width * model["params"] / world for part, width in SHARDED.items()}
    return {**parts, "gathered": BF16 * model["params"]}
