def total(self):
    array = self.data
    return _record(array.sum(), (self, lambda g: g * np.ones_like(array)))


Tensor.sum = total
