"""Sourced tables and published sweeps; every row says who measured, specified or assumed it.

``LINKS``, ``ACCELERATORS``, ``SYSTEMS``, ``FABRICS`` and ``LATENCIES`` map names to rows;
``sweep``, ``sweeps`` and ``nearest_sweep`` find published measurements, ``training_runs`` whole
jobs. Files are read when first asked for.
"""

from __future__ import annotations

from interconnect_lab.specs.hardware import (
    ACCELERATORS,
    FABRICS,
    LATENCIES,
    LINKS,
    SYSTEMS,
    AcceleratorSpec,
    FabricSpec,
    LatencySpec,
    LinkSpec,
    SystemSpec,
    load_links,
)
from interconnect_lab.specs.measured import (
    OPS,
    Nearest,
    Source,
    Sweep,
    nearest_sweep,
    sources,
    sweep,
    sweeps,
)
from interconnect_lab.specs.tables import CONFIDENCE, KINDS, LAYERS, Row, Table
from interconnect_lab.specs.training_runs import TrainingRun, relative_speed, training_runs

__all__ = [
    "ACCELERATORS",
    "CONFIDENCE",
    "FABRICS",
    "KINDS",
    "LATENCIES",
    "LAYERS",
    "LINKS",
    "OPS",
    "SYSTEMS",
    "AcceleratorSpec",
    "FabricSpec",
    "LatencySpec",
    "LinkSpec",
    "Nearest",
    "Row",
    "Source",
    "Sweep",
    "SystemSpec",
    "Table",
    "TrainingRun",
    "load_links",
    "nearest_sweep",
    "relative_speed",
    "sources",
    "sweep",
    "sweeps",
    "training_runs",
]
