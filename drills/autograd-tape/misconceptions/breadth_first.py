def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    reached = [root]
    for node in reached:
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(grads[node]), shape)
            if operand in grads:
                grads[operand] = grads[operand] + share
            else:
                grads[operand] = share
                reached.append(operand)
    for node in reached:
        if not node.ways:
            node.grad = np.array(grads[node]) if node.grad is None else node.grad + grads[node]


Tensor.backward = backward
