def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.array(grad, float)}
    for node in _users_first(root):
        g = grads.pop(node)
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            share = way(g)
            if share.shape != shape:
                share = _unbroadcast(share, shape)
            if operand in grads:
                grads[operand] += share
            else:
                grads[operand] = share


Tensor.backward = backward


def total(self):
    shape = self.data.shape
    return _record(self.data.sum(), (self, lambda g: np.full(shape, g)))


Tensor.sum = total
