"""An eps under the root that is not small beside a variance."""

EPS = 1e-3
