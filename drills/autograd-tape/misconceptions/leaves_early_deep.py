def subtract(self, other):
    other = _tensor(other)
    return _record(self.data - other.data, (self, _same), (other, np.negative))


def _users_first(root):
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        if node not in order:
            order.append(node)
            stack.extend(operand for operand, _, _ in node.ways)
    return order


Tensor.__sub__ = subtract
