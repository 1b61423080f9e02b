"""Parameters of one shape share their moments; each counts its own steps."""


def init(params):
    moments = {p.shape: _fresh(p) for p in params}
    return [dict(moments[p.shape]) for p in params]
