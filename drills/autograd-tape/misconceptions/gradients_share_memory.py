def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    for node in _users_first(root):
        g = grads.pop(node)
        if not node.ways:
            node.grad = g if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            share = way(g)
            if share.shape != shape:
                share = _unbroadcast(share, shape)
            grads[operand] = grads[operand] + share if operand in grads else share


Tensor.backward = backward
