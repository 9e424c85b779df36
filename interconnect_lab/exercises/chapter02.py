"""Exercises of chapter 02: units, directions, scopes and layers of a bandwidth."""

from __future__ import annotations

from interconnect_lab.exercises.kinds import Choice, Exercise, Function, Order, Quantity, Trap

BITS, WAYS, BOTH, GIB = "bits for bytes", "both directions for one", "both", "GiB for GB"
NODE, LINK, RAW = "per node for per GPU", "per link for per GPU", "raw for usable"
SPECIFIED = "specified for achieved"


def _one_way(number: float, unit: str, both_ways: bool, gpus: int) -> float:
    rate = number * {"Gb/s": 1e9 / 8, "GB/s": 1e9}[unit]
    return rate / (2 if both_ways else 1) / gpus


def _pcie(transfers: float, lanes: int, share: float) -> float:
    return transfers * lanes * share / 8


EXERCISES: tuple[Exercise, ...] = (
    Choice(
        name="guess-nvlink-over-infiniband",
        question="Two data sheets: “NVLink 4: 900 GB/s” and “InfiniBand NDR: 400 Gb/s”. For one H100 with "
        "one such port, how many times faster is NVLink?",
        options=("2.25 times", "4.5 times", "9 times", "18 times"),
        answer="9 times",
        hints=(
            "Write both numbers in GB/s, one way.",
            "NVIDIA adds both directions of NVLink; InfiniBand is quoted one way, in bits.",
        ),
        solution="from interconnect_lab.specs import LINKS\n"
        'ratio = LINKS["NVLink 4"].bandwidth / LINKS["InfiniBand NDR"].bandwidth\n'
        'answer = f"{ratio:g} times"',
        why="NVLink 4 carries 450 GB/s one way per GPU, an NDR port 50 GB/s one way: 450 / 50 = 9.",
        traps=(
            Trap(BITS, "2.25 times", "900 / 400 divides bytes by bits, and two directions by one."),
            Trap(
                "one direction doubled",
                "4.5 times",
                "That is 450 / 100: NVLink is halved, but 400 Gb/s is one way already and was doubled.",
            ),
            Trap(WAYS, "18 times", "That is 900 / 50: NVLink with both directions, InfiniBand with one."),
        ),
    ),
    Quantity(
        name="gib-over-ndr",
        question="How long do 10 GiB take over one InfiniBand NDR port (400 Gb/s) at its full rate? Leave "
        "latency out.",
        answer="214.7 ms",
        hints=("10 GiB are 10 × 2³⁰ bytes.", "400 Gb/s are 50 GB/s, one way."),
        solution="from interconnect_lab.units import Gbps, GiB\nanswer = 10 * GiB / (400 * Gbps)",
        why="10 GiB are 10.74 GB; at 50 GB/s one way that is 214.7 ms.",
        traps=(
            Trap(GIB, "200 ms", "That is 10 GB; 10 GiB are 10.74 GB, 7 % more."),
            Trap(
                BITS,
                "26.8 ms",
                "That divides bytes by 400; the port moves 400 gigabits, 50 gigabytes, a second.",
            ),
            Trap(WAYS, "107.4 ms", "That sends at 100 GB/s; the data go one way, at 50 GB/s."),
            Trap(
                BOTH,
                "13.4 ms",
                "That is 800 GB/s: bits taken for bytes, and both directions for one; 16 times.",
            ),
        ),
    ),
    Quantity(
        name="factor-sixteen",
        question="A slide says “each NDR port gives 800 GB/s”. How many times what a GPU can send through "
        "the port, one way, is that?",
        answer="16",
        hints=("NDR is 400 Gb/s, one way.", "Write 400 Gb/s in GB/s before you divide."),
        solution="from interconnect_lab.units import GBps, Gbps\nanswer = 800 * GBps / (400 * Gbps)",
        why="400 was doubled for the other direction (× 2) and its bits were read as bytes (× 8): 16.",
        traps=(
            Trap(BITS, "2", "That takes 400 Gb/s for 400 GB/s; the bits make another factor 8."),
            Trap(WAYS, "8", "That takes the port for 800 Gb/s; it is 400 one way, another factor 2."),
        ),
    ),
    Quantity(
        name="pcie-4-x8",
        question="A PCIe 4 slot has 8 lanes of 16 GT/s: 16·10⁹ bits a second on each lane, each way. Of 130 "
        "bits, 128 are data. What is the slot's bandwidth one way, after coding?",
        answer="15.75 GB/s",
        tolerance=0.005,
        hints=("16 GT/s on 8 lanes are 128 Gb/s.", "128 Gb/s are 16 GB/s; 128 of 130 bits are data."),
        solution="from interconnect_lab.units import Gbps\nanswer = 8 * 16 * Gbps * 128 / 130",
        why="8 × 16 Gb/s = 16 GB/s on the wire, one way; × 128/130 = 15.75 GB/s.",
        traps=(
            Trap(
                WAYS,
                "31.5 GB/s",
                "That is both directions, or an x16 slot; asked is one way through 8 lanes.",
            ),
            Trap(RAW, "16 GB/s", "That is the wire; 2 of 130 bits are coding."),
            Trap("wrong coding", "12.8 GB/s", "That is 8b/10b, the coding of PCIe 1 and 2."),
            Trap(BITS, "126 GB/s", "Those are gigabits: 8 to a byte."),
        ),
    ),
    Quantity(
        name="h800-eight-links",
        question="An H800 shows 8 active NVLinks, each 25 GB/s one way; an H100 shows 18. What is the "
        "H800's NVLink bandwidth one way per GPU?",
        answer="200 GB/s",
        hints=(
            "Links of one GPU add up.",
            "The 18 of the H100 are not needed, and 25 GB/s is one way already.",
        ),
        solution='from interconnect_lab.specs import LINKS\nanswer = LINKS["NVLink 4 (H800)"].bandwidth',
        why="8 × 25 GB/s = 200 GB/s one way. It is built so, and not faulty: an H100 has 18 links, 450 GB/s.",
        traps=(
            Trap(LINK, "25 GB/s", "That is one link; a GPU spreads its data over all 8."),
            Trap(WAYS, "400 GB/s", "That adds both directions, as the data sheet does."),
            Trap(
                "wrong device", "450 GB/s", "That is an H100 with 18 links; an H800 has 8 and is not faulty."
            ),
        ),
    ),
    Quantity(
        name="nvlink-status-478",
        question="`nvidia-smi nvlink -s` on an H100 lists 18 links of 26.562 GB/s each, on the wire and "
        "one way. What is left of their sum for data?",
        answer="450 GB/s",
        tolerance=0.01,
        hints=("Which share of the bits on the wire is data?", "NVLink 4 carries 16 bits of data in 17."),
        solution="from interconnect_lab.units import GBps\nanswer = 18 * 26.562 * GBps * 16 / 17",
        why="18 × 26.562 = 478 GB/s on the wire; × 16/17 = 450 GB/s usable, one way.",
        traps=(
            Trap(RAW, "478 GB/s", "That is the wire, coding included: 16 of 17 bits are data."),
            Trap(WAYS, "900 GB/s", "That is both directions; the tool lists one."),
            Trap("one direction halved", "225 GB/s", "The tool lists one way already: do not halve it."),
            Trap(LINK, "25 GB/s", "That is one of the 18 links."),
        ),
    ),
    Choice(
        name="six-percent-of-nvlink",
        question="The data sheet gives 450 GB/s one way; `nvidia-smi nvlink -s` sums to 478.1 GB/s. Why do "
        "they differ?",
        options=(
            "coding: 16 of 17 bits are data",
            "one of 18 links is bad",
            "GiB against GB",
            "the two directions differ",
        ),
        answer="coding: 16 of 17 bits are data",
        hints=(
            "Compute 478.1 / 450.",
            "Which of the four reasons makes the wire larger by the same share on every link?",
        ),
        solution="from interconnect_lab.specs import LINKS\n"
        'ratio = LINKS["NVLink 4"].raw_bandwidth / LINKS["NVLink 4"].bandwidth\n'
        "reasons = {\n"
        '    17 / 16: "coding: 16 of 17 bits are data",\n'
        '    17 / 18: "one of 18 links is bad",\n'
        '    2**30 / 1e9: "GiB against GB",\n'
        '    1: "the two directions differ",  # each way runs at the same rate\n'
        "}\n"
        "answer = reasons[min(reasons, key=lambda reason: abs(reason - ratio))]",
        why="478.1 / 450 = 1.0625 = 17/16. The tool shows the wire, the data sheet what is left for data.",
        traps=(
            Trap(
                "bad link",
                "one of 18 links is bad",
                "The tool lists all 18, and it shows more than the data sheet.",
            ),
            Trap(GIB, "GiB against GB", "That would be 7.4 %; here it is 6.25 %."),
            Trap(WAYS, "the two directions differ", "Both directions of NVLink run at the same rate."),
        ),
    ),
    Quantity(
        name="qdr-port",
        question="An InfiniBand QDR card is sold as 40 Gb/s. It codes 8 bits as 10. What is its data rate "
        "one way?",
        answer="4 GB/s",
        hints=("For SDR to FDR the name is the rate on the wire.", "40 Gb/s × 8/10, then bits to bytes."),
        solution="from interconnect_lab.units import Gbps\nanswer = 40 * Gbps * 8 / 10",
        why="40 Gb/s is the signalling rate; 8 of 10 bits are data: 32 Gb/s, 4 GB/s. NDR's 400 Gb/s is "
        "data already.",
        traps=(
            Trap(RAW, "5 GB/s", "That is the wire: two of ten bits are coding."),
            Trap(BITS, "32 GB/s", "Those are gigabits."),
            Trap(WAYS, "8 GB/s", "That adds both directions; asked is one way."),
        ),
    ),
    Quantity(
        name="p4d-share",
        question="An AWS p4d node has 8 A100 GPUs and a network of 400 Gb/s. What is one GPU's share, one "
        "way?",
        answer="6.25 GB/s",
        hints=("Is 400 Gb/s a GPU's or the node's?", "400 Gb/s are 50 GB/s for 8 GPUs."),
        solution="from interconnect_lab.specs import SYSTEMS\n"
        'answer = SYSTEMS["AWS p4d"].gpu_network_bandwidth',
        why="400 Gb/s = 50 GB/s one way per node; eight GPUs share it: 6.25 GB/s, 48 times below NVLink 3.",
        traps=(
            Trap(
                NODE, "50 GB/s", "50 is the node's rate in GB/s, and the GPU's in Gb/s: one step is missing."
            ),
            Trap(
                BOTH,
                "100 GB/s",
                "That is twice 50: the node's 50 GB/s doubled, or 400 / 8 doubled and still in Gb/s. One "
                "way, in bytes, 50 GB/s serve all eight.",
            ),
            Trap(BITS, "400 GB/s", "400 is in Gb/s, and for the node."),
            Trap(WAYS, "12.5 GB/s", "A network port is quoted one way; there is no second direction to add."),
            Trap("one direction halved", "3.125 GB/s", "A network port is quoted one way: do not halve it."),
        ),
    ),
    Quantity(
        name="weights-over-pcie-5",
        question="16 GB of weights are copied to an H100 over PCIe 5 x16, which is printed as 128 GB/s and "
        "achieves 55.4 GB/s one way. How long does it take?",
        answer="289 ms",
        hints=("Weights go one way.", "Use the achieved rate."),
        solution="from interconnect_lab.units import GB, GBps\nanswer = 16 * GB / (55.4 * GBps)",
        why="16 GB / 55.4 GB/s = 289 ms. 128 adds both directions (÷ 2) before coding (63.0), and copies "
        "reach 88 %.",
        traps=(
            Trap(WAYS, "125 ms", "128 GB/s adds both directions and has coding in it; a copy goes one way."),
            Trap(SPECIFIED, "254 ms", "63 to 64 GB/s is specified; copies achieve 55.4 GB/s."),
        ),
    ),
    Choice(
        name="nic-in-the-slot",
        question="Which network card can a PCIe 5 x16 slot feed at the card's full rate, one way?",
        options=("400 Gb/s only", "400 and 800 Gb/s", "neither"),
        answer="400 Gb/s only",
        hints=(
            "Write slot and cards in GB/s, one way.",
            "The slot copies 55.4 GB/s; the cards need 50 and 100.",
        ),
        solution="from interconnect_lab.specs import LINKS\n"
        'slot = LINKS["PCIe 5"].achieved\n'
        'cards = {400: LINKS["InfiniBand NDR"], 800: LINKS["InfiniBand XDR"]}\n'
        "fits = [rate for rate, card in cards.items() if card.bandwidth <= slot]\n"
        'answer = f"{fits[0]} Gb/s only" if fits == [400] else "400 and 800 Gb/s"',
        why="The slot copies about 55 GB/s one way: 50 GB/s (400 Gb/s) just fits, 100 GB/s (800 Gb/s) does "
        "not.",
        traps=(
            Trap(
                WAYS,
                "400 and 800 Gb/s",
                "128 GB/s adds both directions: one way 63.0 are specified, below 100.",
            ),
            Trap(
                BITS,
                "neither",
                "400 Gb/s is 50 GB/s, and the slot's 63.0 (55.4 achieved) are one way already: it fits.",
            ),
        ),
    ),
    Order(
        name="rank-one-way",
        question="Order by bandwidth one way, slowest first: `NVLink 3` (600 GB/s), `InfiniBand NDR` (400 "
        "Gb/s), `PCIe 5 x16` (128 GB/s), `InfiniBand HDR` (200 Gb/s), `PCIe 4 x16` (64 GB/s). In brackets is "
        "what is printed.",
        answer=("InfiniBand HDR", "PCIe 4 x16", "InfiniBand NDR", "PCIe 5 x16", "NVLink 3"),
        hints=(
            "Bits to bytes for InfiniBand; half for PCIe and NVLink.",
            "PCIe 4 x16 is 31.5 GB/s one way; an NDR port is 50.",
        ),
        solution="from interconnect_lab.specs import LINKS\n"
        'names = {"NVLink 3": "NVLink 3", "InfiniBand NDR": "InfiniBand NDR", "PCIe 5": "PCIe 5 x16"}\n'
        'names |= {"InfiniBand HDR": "InfiniBand HDR", "PCIe 4": "PCIe 4 x16"}\n'
        "answer = tuple(names[name] for name in sorted(names, key=lambda name: LINKS[name].bandwidth))",
        why="One way: HDR 25, PCIe 4 31.5, NDR 50, PCIe 5 63.0, NVLink 3 300 GB/s.",
        traps=(
            Trap(
                BITS,
                ("PCIe 4 x16", "PCIe 5 x16", "InfiniBand HDR", "InfiniBand NDR", "NVLink 3"),
                "That is the order of the printed numbers; InfiniBand's are bits.",
            ),
            Trap(
                WAYS,
                ("InfiniBand HDR", "InfiniBand NDR", "PCIe 4 x16", "PCIe 5 x16", "NVLink 3"),
                "PCIe's numbers add both directions, InfiniBand's do not: halve PCIe's alone, and NDR "
                "passes PCIe 4.",
            ),
        ),
    ),
    Function(
        name="write-one-way-per-gpu",
        question="Write a function that turns a printed number into bytes/s, one way per GPU. `unit` is "
        "`Gb/s` or `GB/s`, `both_ways` says whether two directions were added, `gpus` how many GPUs share "
        "it.",
        signature="def one_way_per_gpu(number, unit, both_ways, gpus):\n    ...",
        hints=("Convert the unit first.", "Then divide by 2 if both ways, and by the GPUs."),
        solution="def answer(number, unit, both_ways, gpus):\n"
        '    rate = number * {"Gb/s": 1e9 / 8, "GB/s": 1e9}[unit]\n'
        "    return rate / (2 if both_ways else 1) / gpus",
        why="Unit, direction, scope: 8, 2 and the number of GPUs, each once.",
        cases=(
            (900, "GB/s", True, 1),
            (400, "Gb/s", False, 1),
            (3200, "Gb/s", False, 8),
            (400, "Gb/s", False, 8),
            (14400, "GB/s", True, 8),
        ),
        answer=_one_way,
        traps=(
            Trap(
                BITS, lambda n, unit, both, g: n * 1e9 / (1 + both) / g, "Gb/s counts bits, eight to a byte."
            ),
            Trap(
                WAYS,
                lambda n, unit, both, g: _one_way(n, unit, False, g),
                "The number adds two directions: divide by 2.",
            ),
            Trap(
                NODE,
                lambda n, unit, both, g: _one_way(n, unit, both, 1),
                "All the GPUs share the number: divide by `gpus`.",
            ),
            Trap(
                "GB/s for bytes/s",
                lambda n, unit, both, g: _one_way(n, unit, both, g) / 1e9,
                "Giga is missing: bytes/s, not GB/s.",
            ),
            Trap(
                BOTH,
                lambda n, unit, both, g: n * 1e9 / g,
                "Neither bits nor directions were taken off: up to 16.",
            ),
        ),
    ),
    Function(
        name="write-pcie-bandwidth",
        question="Write a function that returns the bandwidth of a PCIe slot in GB/s, one way. `transfers` "
        "is in GT/s (one transfer is one bit on one lane), `lanes` says how many lanes the slot has, `share` "
        "which share of the bits is data.",
        signature="def pcie_bandwidth(transfers, lanes, share):\n    ...",
        hints=(
            "What do all lanes carry together, in Gb/s?",
            "GT/s × lanes are Gb/s; 8 of them are one GB/s.",
        ),
        solution="def answer(transfers, lanes, share):\n    return transfers * lanes * share / 8",
        why="GT/s × lanes × share is Gb/s of data, one way; eight to a byte.",
        cases=((32, 16, 128 / 130), (16, 8, 128 / 130), (2.5, 16, 0.8), (64, 4, 242 / 256)),
        answer=_pcie,
        traps=(
            Trap(BITS, lambda t, n, share: t * n * share, "Those are gigabits per second."),
            Trap(WAYS, lambda t, n, share: t * n * share / 4, "That is twice too much: one way, please."),
            Trap(RAW, lambda t, n, share: t * n / 8, "The share of bits that are data is missing."),
            Trap(
                "bytes/s for GB/s",
                lambda t, n, share: _pcie(t, n, share) * 1e9,
                "Asked is GB/s, not bytes/s.",
            ),
            Trap("per lane for per slot", lambda t, n, share: t * share / 8, "That is one lane."),
        ),
    ),
)
