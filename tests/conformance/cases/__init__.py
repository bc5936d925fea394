"""The registry: one entry per public layer, gathered from the files beside."""

import importlib
import pkgutil

CASES = {}
for _module in pkgutil.iter_modules(__path__):
    _found = importlib.import_module(f"{__name__}.{_module.name}").CASES
    _twice = CASES.keys() & _found.keys()
    if _twice:
        raise ValueError(f"These layers have two cases: {sorted(_twice)}")
    CASES |= _found
