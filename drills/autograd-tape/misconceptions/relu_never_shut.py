def relu(self):
    return _record(np.maximum(self.data, 0), (self, _same))


Tensor.relu = relu
