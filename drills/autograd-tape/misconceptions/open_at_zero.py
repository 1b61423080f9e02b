def relu(self):
    positive = self.data >= 0
    return _record(self.data * positive, (self, lambda g: g * positive))


Tensor.relu = relu
