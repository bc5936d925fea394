"""What every test starts from: a fixed seed and, where needed, TensorFlow."""

import os
import pathlib

# Some virtual machines announce AMX and then refuse it: a bfloat16 product
# ends the process. This is the last level below it. Before TensorFlow loads.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

# JAX compiles each operation of each shape, most to be run once, and that is
# most of its tests' time. So it does not optimise them, takes the emitters that
# are done sooner, and keeps what it has compiled for the other worker and the
# next run. Only for JAX: TensorFlow's XLA reads the flags too, and is tested as
# users run it.
if os.environ.get("KERAS_BACKEND") == "jax":
    os.environ.setdefault(
        "XLA_FLAGS",
        "--xla_backend_optimization_level=0"
        " --xla_cpu_use_fusion_emitters=false",
    )
    os.environ.setdefault(
        "JAX_COMPILATION_CACHE_DIR",
        str(pathlib.Path(__file__).parents[1] / ".pytest_cache" / "jax"),
    )
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

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
