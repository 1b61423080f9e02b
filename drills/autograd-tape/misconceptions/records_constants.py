def _record(data, *operands):
    result = Tensor(data)
    ways = [(t.node or t, t.data.shape, way) for t, way in operands if t.requires_grad]
    if ways:
        result.requires_grad, result.node = True, Node(ways)
    else:
        result.operands = operands
    return result
