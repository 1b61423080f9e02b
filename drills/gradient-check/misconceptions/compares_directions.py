def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    own, right = np.linalg.norm(grad_x), np.linalg.norm(measured)
    if right == 0:
        return own == 0
    return np.sum(grad_x * measured) >= 0.999999 * own * right and own > 0
