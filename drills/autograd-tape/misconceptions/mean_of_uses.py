def backward(self, grad=None):
    root = self.node or self
    shares = {root: [np.ones_like(self.data) if grad is None else np.asarray(grad, float)]}
    for node in _users_first(root):
        arrived = shares.pop(node)
        g = sum(arrived) / len(arrived)
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            shares.setdefault(operand, []).append(_unbroadcast(way(g), shape))


Tensor.backward = backward
