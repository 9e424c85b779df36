"""Models, sourced data and labs for the interconnects of AI systems.

Submodules load when first used, so that a model costs no plotting library:
``import interconnect_lab as il; il.links.Link(...)``.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"
__all__ = ["collectives", "exercises", "labs", "links", "plots", "readers", "specs", "units"]


def __getattr__(name: str):
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
