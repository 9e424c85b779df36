"""What vendors and standards publish: links, accelerators, systems, fabrics, latencies by layer."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path

from interconnect_lab.links import Link
from interconnect_lab.specs.tables import (
    DATA,
    Row,
    Table,
    check_latency,
    check_token,
    read_table,
)
from interconnect_lab.units import Bytes, Seconds, parse_rate

SCOPES = ("GPU", "chip", "port", "link", "x16 slot", "switch chip", "switch tray", "node")
_QUOTE = re.compile(r"(?P<rate>.+?) (?P<ways>one way|both ways)(?P<link> per link)?")


@dataclass(frozen=True, kw_only=True)
class LinkSpec(Link, Row):
    """A published link that computes like a Link: ``bandwidth`` is one way, for its ``scope``.

    ``latency`` (s) is the lowest published one at ``latency_layer``, or None where none is published;
    then ``time`` raises ValueError and ``with_latency`` helps. Latencies of two layers do not compare;
    ``latency_is_bound`` where the source says "below". ``lane_rate`` is raw, bytes/s; ``links`` and
    ``link_bandwidth`` are None where the split is not known.

    >>> LINKS["NVLink 4"].bandwidth, LINKS["NVLink 4"].quoted, LINKS["NVLink 4"].scope
    (450000000000.0, '900 GB/s both ways', 'GPU')
    """

    latency: Seconds | None = None
    family: str
    generation: str
    device: str
    scope: str
    quoted: str
    year: int | None = None
    links: int | None = None
    link_bandwidth: float | None = None
    lanes: int | None = None
    lane_rate: float | None = None
    coding: str = ""
    latency_high: float | None = None
    latency_layer: str = ""
    latency_is_bound: bool = False
    latency_source: str = ""
    efficiency: float | None = None
    efficiency_source: str = ""

    def __post_init__(self) -> None:
        Row.__post_init__(self)
        check_token("scope", self.scope, SCOPES)
        check_latency(self)
        self._check_bandwidths()
        self._check_efficiency()
        if not _QUOTE.fullmatch(self.quoted):
            like = "'900 GB/s both ways'"
            raise ValueError(f"field 'quoted' must read like {like}; got {self.quoted!r}")
        parse_rate(_QUOTE.fullmatch(self.quoted)["rate"])

    def time(self, nbytes: Bytes) -> Seconds:
        """Seconds for one message of ``nbytes``; ValueError where no latency is published."""
        if self.latency is None:
            raise ValueError(self._no_latency())
        return Link.time(self, nbytes)

    @property
    def half_size(self) -> Bytes:
        """The size at which half of the time is latency; ValueError where none is published."""
        if self.latency is None:
            raise ValueError(self._no_latency())
        return self.latency * self.bandwidth

    def with_latency(self, latency: Seconds, *, source: str) -> Link:
        """Return a plain Link of this bandwidth with your own ``latency`` and its source."""
        both = f"{self.name}: bandwidth {self.source}; latency {source}"
        return Link(latency, self.bandwidth, source=both)

    def per_link(self) -> LinkSpec:
        """Return one link of this row; ValueError where the split into links is not published."""
        if self.link_bandwidth is None:
            raise ValueError(f"how {self.name} splits into links is not published")
        scope = self.scope if self.links == 1 else "link"
        return replace(self, bandwidth=self.link_bandwidth, links=1, scope=scope)

    @property
    def direction(self) -> str:
        """Always "one way"; ``quoted`` says what the vendor counts."""
        return "one way"

    @property
    def raw_bandwidth(self) -> float | None:
        """The rate on the wire before coding, one way (bytes/s); None if it is not known."""
        if self.lanes is None or self.lane_rate is None or self.links is None:
            return None
        return self.links * self.lanes * self.lane_rate

    @property
    def achieved(self) -> float | None:
        """Bandwidth × efficiency, one way (bytes/s); None if no efficiency is known."""
        return None if self.efficiency is None else self.bandwidth * self.efficiency

    @property
    def quoted_rate(self) -> float:
        """The figure that vendors print, in bytes/s, with the directions that they count."""
        return parse_rate(_QUOTE.fullmatch(self.quoted)["rate"])

    @property
    def both_ways(self) -> bool:
        """Whether vendors quote the two directions added up."""
        return _QUOTE.fullmatch(self.quoted)["ways"] == "both ways"

    def _no_latency(self) -> str:
        call = 'with_latency(2e-6, source="my measurement")'
        return f"no latency is published for {self.name}: give one, LINKS[{self.name!r}].{call}"

    def _check_bandwidths(self) -> None:
        if not self.bandwidth > 0:
            raise ValueError(f"field 'bandwidth' must be above 0; got {self.bandwidth!r}")
        if self.links is None or self.link_bandwidth is None:
            return
        if not math.isclose(self.links * self.link_bandwidth, self.bandwidth, rel_tol=1e-3):
            total = f"links × link_bandwidth, {self.links * self.link_bandwidth!r}"
            raise ValueError(f"field 'bandwidth' must be {total}; got {self.bandwidth!r}")
        if self.raw_bandwidth is not None and self.raw_bandwidth < 0.999 * self.bandwidth:
            rates = f"{self.raw_bandwidth!r}, below the bandwidth {self.bandwidth!r}"
            raise ValueError(f"field 'lane_rate' gives {rates}")

    def _check_efficiency(self) -> None:
        if self.efficiency is None:
            return
        if not 0 < self.efficiency <= 1:
            share = "a share, above 0 and at most 1"
            raise ValueError(f"field 'efficiency' must be {share}; got {self.efficiency!r}")
        if not self.efficiency_source:
            raise ValueError("field 'efficiency_source' must say who reached that efficiency")


@dataclass(frozen=True, kw_only=True)
class AcceleratorSpec(Row):
    """A GPU or TPU: FLOP/s, memory (bytes, bytes/s), scale-up link, share of the network.

    ``flops_bf16`` and ``flops_fp8`` are dense; the doubled figures of brochures count sparsity.
    ``half_format`` says where the 16-bit figure is fp16. ``nic_bandwidth`` is one way, None if
    not sourced.
    """

    year: int
    flops_bf16: float
    flops_fp8: float | None = None
    half_format: str = "bf16"
    memory: float | None = None
    hbm_bandwidth: float | None = None
    scale_up: str
    nic_bandwidth: float | None = None
    nic_source: str = ""

    def __post_init__(self) -> None:
        Row.__post_init__(self)
        if not self.flops_bf16 > 0:
            raise ValueError(f"field 'flops_bf16' must be above 0; got {self.flops_bf16!r}")
        check_token("half_format", self.half_format, ("bf16", "fp16"))
        if (self.nic_bandwidth is None) != (not self.nic_source):
            raise ValueError("field 'nic_source' must be given where nic_bandwidth is, only there")

    @property
    def link(self) -> LinkSpec:
        """The row of LINKS that joins it to its neighbours."""
        return LINKS[self.scale_up]

    @property
    def flop_per_hbm_byte(self) -> float | None:
        """16-bit FLOP that it can do while one byte comes from its memory."""
        return None if self.hbm_bandwidth is None else self.flops_bf16 / self.hbm_bandwidth

    @property
    def flop_per_link_byte(self) -> float:
        """16-bit FLOP that it can do while one byte leaves by its scale-up link: 2,198 for an H100.

        >>> round(ACCELERATORS["H100 SXM"].flop_per_link_byte)
        2198
        """
        return self.flops_bf16 / self.link.bandwidth

    @property
    def flop_per_nic_byte(self) -> float | None:
        """16-bit FLOP that it can do while one byte leaves by its share of the network."""
        return None if self.nic_bandwidth is None else self.flops_bf16 / self.nic_bandwidth


@dataclass(frozen=True, kw_only=True)
class SystemSpec(Row):
    """A server, a rack or a cluster: ``gpus`` in all, on ``nodes`` hosts with ``nics`` each.

    ``domain`` is how many GPUs the link inside joins: one node's, or 72 in an NVL72 rack, whose
    ``switches`` are the rack's, else a node's. ``nic_bandwidth`` is one NIC, one way; None where
    it differs from box to box.
    """

    gpus: int
    nodes: int = 1
    accelerator: str
    intra_link: str
    wiring: str
    domain: int | None = None
    switches: int = 0
    nics: int | None = None
    nic_link: str = ""
    nic_bandwidth: float | None = None

    def __post_init__(self) -> None:
        Row.__post_init__(self)
        if self.nodes < 1 or self.gpus < 1 or self.gpus % self.nodes:
            given = f"{self.gpus} on {self.nodes}"
            raise ValueError(f"field 'gpus' must divide over the nodes; got {given}")
        if len({self.nics is None, self.nic_bandwidth is None, not self.nic_link}) > 1:
            raise ValueError("fields 'nics', 'nic_link' and 'nic_bandwidth' go together")
        if self.domain is None:
            object.__setattr__(self, "domain", self.gpus_per_node)

    @property
    def gpus_per_node(self) -> int:
        """GPUs that one host sees."""
        return self.gpus // self.nodes

    @property
    def link(self) -> LinkSpec:
        """The row of LINKS between the GPUs inside; its bandwidth is one GPU's."""
        return LINKS[self.intra_link]

    @property
    def network(self) -> LinkSpec:
        """One NIC, as a row of LINKS; ValueError where no NIC is published."""
        if not self.nic_link:
            raise ValueError(
                f"no NIC is published for {self.name}: {self.note or 'it differs from box to box'}"
            )
        return LINKS[self.nic_link].per_link()

    @property
    def node_bandwidth(self) -> float | None:
        """What leaves one node, one way: NICs × the bandwidth of one (bytes/s)."""
        return None if self.nics is None else self.nics * self.nic_bandwidth

    @property
    def gpu_network_bandwidth(self) -> float | None:
        """One GPU's share of its node's NICs, one way (bytes/s)."""
        return None if self.nics is None else self.node_bandwidth / self.gpus_per_node

    @property
    def inside_over_outside(self) -> float | None:
        """How many times faster a GPU's link inside is than its share of the network, one way.

        >>> SYSTEMS["DGX H100"].inside_over_outside, SYSTEMS["AWS p4d"].inside_over_outside
        (9.0, 48.0)
        """
        return None if self.nics is None else self.link.bandwidth / self.gpu_network_bandwidth


@dataclass(frozen=True, kw_only=True)
class FabricSpec(Row):
    """A switch (``radix`` ports, latency) or a network as built (``endpoints``, its taper).

    ``oversubscription`` is the bandwidth into the fabric over the bandwidth across it: 1 is
    non-blocking.
    """

    role: str
    topology: str = ""
    radix: int | None = None
    port_link: str = ""
    port_bandwidth: float | None = None
    latency: float | None = None
    latency_high: float | None = None
    latency_layer: str = ""
    endpoints: int | None = None
    planes: int = 1
    tiers: int | None = None
    oversubscription: float | None = None

    def __post_init__(self) -> None:
        Row.__post_init__(self)
        check_token("role", self.role, ("switch", "network"))
        check_latency(self)
        if self.role == "switch" and not (self.radix and self.port_bandwidth):
            raise ValueError("fields 'radix' and 'port_bandwidth' must be given for a switch")
        if self.oversubscription is not None and self.oversubscription < 1:
            taper = self.oversubscription
            raise ValueError(f"field 'oversubscription' must be 1 or more; got {taper!r}")

    @property
    def switch_bandwidth(self) -> float | None:
        """All ports of the switch, one way (bytes/s)."""
        return None if self.radix is None else self.radix * self.port_bandwidth


@dataclass(frozen=True, kw_only=True)
class LatencySpec(Row):
    """A published latency (s), from ``latency`` to ``latency_high``, or below it where it ``is_bound``.

    Latencies of two layers do not compare: an NCCL step holds software that an adapter's figure
    leaves out.
    """

    latency: float
    latency_high: float | None = None
    latency_layer: str
    latency_is_bound: bool = False
    link: str = ""

    def __post_init__(self) -> None:
        Row.__post_init__(self)
        check_latency(self)


def load_links(toml: Path | str = DATA / "links.toml") -> Table[LinkSpec]:
    """Return the links of a TOML file (a Path) or text (a str), each checked.

    Raises ValueError that names the row and the field.
    """
    rows = read_table(toml, "link", LinkSpec)
    return Table("link", lambda: rows)


def _packaged(file: str, what: str, row_class: type[Row]) -> Table:
    return Table(what, lambda: read_table(DATA / f"{file}.toml", what, row_class))


LINKS: Table[LinkSpec] = _packaged("links", "link", LinkSpec)
ACCELERATORS: Table[AcceleratorSpec] = _packaged("accelerators", "accelerator", AcceleratorSpec)
SYSTEMS: Table[SystemSpec] = _packaged("systems", "system", SystemSpec)
FABRICS: Table[FabricSpec] = _packaged("fabrics", "fabric", FabricSpec)
LATENCIES: Table[LatencySpec] = _packaged("latencies", "latency", LatencySpec)
