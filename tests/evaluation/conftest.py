from tests.kinds.conftest import deviations, workers  # noqa: F401 fixtures
