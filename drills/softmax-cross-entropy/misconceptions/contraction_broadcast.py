"""g multiplies the columns of the Jacobian, then the rows are added up."""


def contract(jacobian, g):
    return (jacobian * g).sum(axis=0)
