def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    for node in _users_first(root):
        g = grads.pop(node)
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(g), shape)
            grads[operand] = share


Tensor.backward = backward
