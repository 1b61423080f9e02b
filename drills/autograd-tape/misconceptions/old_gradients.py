class Node:
    __slots__ = ("arrived", "ways")

    def __init__(self, ways):
        self.ways = ways
        self.arrived = None


def backward(self, grad=None):
    root = self.node or self
    grad = np.ones_like(self.data) if grad is None else np.asarray(grad, float)
    if isinstance(root, Node):
        root.arrived = grad
    for node in _users_first(root):
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(node.arrived), shape)
            if isinstance(operand, Node):
                operand.arrived = share if operand.arrived is None else operand.arrived + share
            else:
                operand.grad = share if operand.grad is None else operand.grad + share


Tensor.backward = backward
