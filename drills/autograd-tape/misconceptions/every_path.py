def backward(self, grad=None):
    grads = {}
    stack = [(self.node or self, np.ones_like(self.data) if grad is None else np.array(grad, float))]
    while stack:
        node, g = stack.pop()
        if not node.ways:
            grads[node] = grads[node] + g if node in grads else g
        stack += [(operand, _unbroadcast(way(g), shape)) for operand, shape, way in node.ways]
    for leaf, g in grads.items():
        leaf.grad = np.array(g) if leaf.grad is None else leaf.grad + g


Tensor.backward = backward
