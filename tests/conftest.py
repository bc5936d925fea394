"""What every test starts from: a fixed seed and, where needed, TensorFlow."""

import keras
import pytest


@pytest.fixture(autouse=True)
def seed():
    keras.utils.set_random_seed(0)


def pytest_collection_modifyitems(items):
    backend = keras.backend.backend()
    if backend == "tensorflow":
        return
    skip = pytest.mark.skip(reason=f"TensorFlow only; running on {backend}")
    for item in items:
        if "tensorflow" in item.keywords:
            item.add_marker(skip)
