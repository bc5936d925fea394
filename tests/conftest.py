"""What every test starts from: a fixed seed and, where needed, TensorFlow."""

import os

# Some virtual machines announce AMX and then refuse it: a bfloat16 product
# ends the process. This is the last level below it. Before TensorFlow loads.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

# JAX compiles each operation of each shape, most to be run once, so that to
# optimise them costs a quarter of its tests' time and gains nothing. Only for
# JAX: TensorFlow's XLA reads it too, and is tested as users run it.
if os.environ.get("KERAS_BACKEND") == "jax":
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

import keras  # noqa: E402
import pytest  # noqa: E402


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
