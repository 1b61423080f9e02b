def _record(data, *operands):
    result = Tensor(data, any(t.requires_grad for t, _ in operands))
    result.all_ways = operands
    if result.requires_grad:
        ways = [(t.node or t, t.data.shape, way) for t, way in operands if t.requires_grad]
        result.node = Node(ways)
    return result
