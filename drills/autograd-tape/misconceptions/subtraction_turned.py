Tensor.__rsub__ = Tensor.__sub__
