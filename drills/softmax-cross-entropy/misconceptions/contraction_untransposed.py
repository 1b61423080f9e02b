"""The Jacobian is applied as it stands, which is right for a symmetric one only."""


def contract(jacobian, g):
    return jacobian @ g
