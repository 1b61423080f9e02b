def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    reached = [root]
    for node in reached:
        g = grads[node]
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(g), shape)
            if operand in grads:
                grads[operand] = grads[operand] + share
            else:
                grads[operand] = share
                reached.append(operand)


Tensor.backward = backward
