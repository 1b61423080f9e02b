from tests.grading.kinds.conftest import deviations, workers  # noqa: F401 fixtures
