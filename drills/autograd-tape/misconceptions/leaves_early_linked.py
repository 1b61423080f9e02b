def subtract(self, other):
    other = _tensor(other)
    return _record(self.data - other.data, (self, _same), (other, np.negative))


def _users_first(root):
    reached = [root]
    for node in reached:  # by the shortest distance from the root
        reached.extend(o for o in dict.fromkeys(o for o, _, _ in node.ways) if o not in reached)
    return reached


Tensor.__sub__ = subtract
