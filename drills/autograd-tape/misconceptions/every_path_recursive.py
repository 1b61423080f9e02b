def backward(self, grad=None):
    grads = {}

    def visit(node, g):
        if not node.ways:
            grads[node] = grads[node] + g if node in grads else g
        for operand, shape, way in node.ways:
            visit(operand, _unbroadcast(way(g), shape))

    visit(self.node or self, np.ones_like(self.data) if grad is None else np.array(grad, float))
    for leaf, g in grads.items():
        leaf.grad = np.array(g) if leaf.grad is None else leaf.grad + g


Tensor.backward = backward
