def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}

    def visit(node):
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(grads[node]), shape)
            if operand in grads:
                grads[operand] = grads[operand] + share
            else:
                grads[operand] = share
                visit(operand)

    visit(root)
    for node, g in grads.items():
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g


Tensor.backward = backward
