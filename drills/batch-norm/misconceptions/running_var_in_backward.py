"""In training grad_x is divided by the root of the running variance."""


class BatchNorm1d(BatchNorm1d):
    def backward(self, grad_y):
        xhat, rstd, training = self.kept
        rstd = _reciprocal(self.running_var, self.eps) if training else rstd
        gradient = _gradient_in_training if training else _gradient_in_evaluation
        grad_x = gradient(grad_y * _wide(self.gamma, grad_y), xhat, rstd)
        return grad_x, *_parameter_gradients(grad_y, xhat)
