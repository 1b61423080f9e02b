def _unwound(blocks, contexts, grad):
    for block in reversed(blocks):
        grad = block.backward(grad, contexts.pop(0))
    return grad
