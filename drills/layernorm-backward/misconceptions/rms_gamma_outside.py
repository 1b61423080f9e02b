def rmsnorm_backward(grad_y, ctx):
    xhat, rrms, gamma = ctx
    return gamma * _rmsnorm_grad_x(grad_y, xhat, rrms), _over_rows(grad_y * xhat)
