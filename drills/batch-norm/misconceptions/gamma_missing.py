"""gamma does not appear in grad_x."""


class BatchNorm1d(BatchNorm1d):
    def backward(self, grad_y):
        xhat, rstd, training = self.kept
        gradient = _gradient_in_training if training else _gradient_in_evaluation
        return gradient(grad_y, xhat, rstd), *_parameter_gradients(grad_y, xhat)
