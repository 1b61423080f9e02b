"""Style: a course assignment, with loops over the rows and a one-hot matrix for the gradient."""

import numpy as np


def softmax(z):
    exps = np.exp(z - np.max(z))
    return exps / np.sum(exps)


def dloss_dp(p, y):
    return -y / p


def softmax_jacobian(p):
    s = p.reshape(-1, 1)
    return np.diagflat(s) - np.dot(s, s.T)


def contract(jacobian, g):
    return np.dot(g, jacobian)


def dloss_dz(p, y):
    return contract(softmax_jacobian(p), dloss_dp(p, y))


def log_softmax(z):
    return np.array([np.log(softmax(row)) for row in z])


def cross_entropy(X, y):
    num_train = X.shape[0]
    loss = 0.0
    for i in range(num_train):
        loss += -np.log(softmax(X[i])[y[i]])
    loss /= num_train
    return loss


def cross_entropy_grad(X, y):
    num_train, num_classes = X.shape
    probs = np.array([softmax(row) for row in X])
    y_one_hot = np.zeros((num_train, num_classes))
    y_one_hot[np.arange(num_train), y] = 1
    return (probs - y_one_hot) / num_train
