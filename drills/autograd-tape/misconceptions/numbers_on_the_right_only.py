del Tensor.__radd__, Tensor.__rsub__, Tensor.__rmul__
