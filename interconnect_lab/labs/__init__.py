"""One public function a lab, grouped by chapter: ``labs.size_sweep()``; ``exercise`` and ``guess`` beside.

``LABS`` maps each chapter to the names of its labs; they load when first used.
"""

from __future__ import annotations

from importlib import import_module

LABS: dict[str, tuple[str, ...]] = {
    "chapter00": ("one_step", "adding_gpus"),
    "chapter01": ("size_sweep", "fit_by_hand", "your_log"),
    "chapter02": ("data_sheet_trap", "link_explorer", "link_race"),
}
_PLACE = {name: chapter for chapter, names in LABS.items() for name in names}
_PLACE["data_sheet_trap"] = "data_sheet"
_PLACE |= {"exercise": "answers", "guess": "answers", "Answer": "answers", "Lab": "lab"}

__all__ = ["LABS", *_PLACE]  # noqa: PLE0604 - names that load when first used


def __getattr__(name: str):
    if name in _PLACE:
        return getattr(import_module(f"{__name__}.{_PLACE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACE])
