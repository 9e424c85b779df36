"""Exercises of chapter 01: latency and bandwidth."""

from __future__ import annotations

from interconnect_lab.exercises.kinds import Choice, Exercise, Function, Order, Quantity, Trap
from interconnect_lab.links import Link

BITS, BOTH, GIB, ONLY = "bits for bytes", "both directions for one", "GiB for GB", "bandwidth only"
GAIN, INVERSE = "gain for factor", "the wrong way round"


def _two_points(nbytes1: float, seconds1: float, nbytes2: float, seconds2: float) -> tuple[float, float]:
    bandwidth = (nbytes2 - nbytes1) / (seconds2 - seconds1)
    return seconds1 - nbytes1 / bandwidth, bandwidth


EXERCISES: tuple[Exercise, ...] = (
    Choice(
        name="guess-256-times-more-data",
        question="An all-reduce on one node of 8 H100 grows from 1 KiB to 256 KiB, 256 times more data. "
        "How much longer does it take?",
        options=("256 times", "16 times", "4 times", "1.2 times"),
        answer="1.2 times",
        hints=("Which part of the time does not depend on size?", "At 1 KiB the bytes take next to no time."),
        solution="from interconnect_lab import specs\n"
        'run = specs.sweep("aic_h100_sxm_nccl2.29.2", op="all_reduce", ranks=8)\n'
        "times = dict(zip(run.nbytes, run.seconds))\n"
        'answer = f"{times[2**18] / times[2**10]:.1f} times"',
        why="Measured: 15.6 µs and 19.15 µs. Below the half-speed size, bytes are almost free.",
        traps=(
            Trap(ONLY, "256 times", "That holds when bytes alone cost time; here latency does."),
            Trap("square root", "16 times", "No law of transfer grows with the root of the size."),
            Trap("half each", "4 times", "Some of both, but at these sizes latency is nearly all of it."),
        ),
    ),
    Quantity(
        name="half-size",
        question="A link has 5 µs of latency and 400 Gb/s, one way. At which message size is half of the "
        "time latency?",
        answer="250 kB",
        hints=("Half of the time is latency when latency = size / bandwidth.", "400 Gb/s is 50 GB/s."),
        solution="from interconnect_lab import links, units\n"
        "link = links.Link(5 * units.us, 400 * units.Gbps, source='exercise')\n"
        "answer = link.half_size",
        why="n½ = latency × bandwidth = 5 µs × 50 GB/s = 250 kB.",
        traps=(
            Trap(BITS, "2 MB", "That is 5 µs × 400 G; but 400 Gb/s counts bits, eight to a byte."),
            Trap(BOTH, "500 kB", "That counts both directions; a message travels one way, at 50 GB/s."),
        ),
    ),
    Quantity(
        name="time-of-one-message",
        question="A link has 5 µs of latency and 400 Gb/s, one way. How long does a message of 1 MB take?",
        answer="25 µs",
        hints=("Time = latency + size / bandwidth.", "1 MB at 50 GB/s is 20 µs of bytes."),
        solution="from interconnect_lab import links, units\n"
        "link = links.Link(5 * units.us, 400 * units.Gbps, source='exercise')\n"
        "answer = link.time(1 * units.MB)",
        why="5 µs of latency + 1 MB / 50 GB/s = 20 µs of bytes: 25 µs, and a fifth of it is latency.",
        traps=(
            Trap(ONLY, "20 µs", "That is the bytes alone. The latency of 5 µs comes first."),
            Trap(BITS, "7.5 µs", "That divides bytes by 400 G; 400 Gb/s is 50 GB/s."),
            Trap(BOTH, "15 µs", "That uses 100 GB/s, both directions. A message goes one way."),
        ),
    ),
    Quantity(
        name="share-of-latency",
        question="Two numbers fitted to an all-reduce on 8 H100 are α = 17.9 µs and B = 219 GB/s. "
        "Which share of the fitted time at 1 MiB is latency?",
        answer="78.9 %",
        hints=("Divide latency by the whole time.", "1 MiB / 219 GB/s is 4.8 µs."),
        solution="from interconnect_lab import links, units\n"
        "link = links.Link(17.9 * units.us, 219 * units.GBps, source='fitted')\n"
        "answer = link.latency / link.time(units.MiB)",
        why="17.9 µs of 22.7 µs. At 1 MiB, well below n½ = 3.9 MB, bandwidth decides a fifth of the time.",
        traps=(
            Trap("the other part", "21.1 %", "That is the share of the bytes; latency is the rest."),
            Trap("bytes over latency", "26.7 %", "That is 4.8 µs over 17.9 µs; divide α by α + size / B."),
        ),
    ),
    Quantity(
        name="size-for-90-percent",
        question="A link has 5 µs of latency and 50 GB/s, one way. From which message size on does it reach "
        "90 % of its bandwidth?",
        answer="2.25 MB",
        hints=(
            "90 % of the bandwidth: the bytes take 90 % of the time, latency 10 %.",
            "So size / bandwidth is nine times the latency.",
        ),
        solution="from interconnect_lab import links, units\n"
        "link = links.Link(5 * units.us, 50 * units.GBps, source='exercise')\n"
        "answer = 9 * link.half_size",
        why="Nine times n½ = 250 kB. For a share s it is n½ · s / (1 − s).",
        traps=(
            Trap(
                "share of n½", "225 kB", "That is 0.9 · n½, where the link reaches 47 %. Solve for the size."
            ),
            Trap(
                "ten for nine", "2.5 MB", "Latency is a tenth of the time, so the bytes take nine latencies."
            ),
            Trap("half for 90 %", "250 kB", "That is n½, where it reaches 50 %."),
            Trap(INVERSE, "27.8 kB", "There latency takes 90 % of the time."),
            Trap(BITS, "18 MB", "That is eight times too large: 50 GB/s are bytes already."),
            Trap(BOTH, "4.5 MB", "That uses 100 GB/s, both directions. A message goes one way."),
        ),
    ),
    Quantity(
        name="thousand-small-messages",
        question="You have 4 MB for a link of 5 µs and 50 GB/s, one way. How many times longer do 1,000 "
        "messages of 4 kB take, one after another, than one message of 4 MB?",
        answer="59.8",
        hints=("Every message pays the latency.", "One small message takes 5.08 µs, the large one 85 µs."),
        solution="from interconnect_lab import links, units\n"
        "link = links.Link(5 * units.us, 50 * units.GBps, source='exercise')\n"
        "answer = 1000 * link.time(4e3) / link.time(4e6)",
        why="1,000 × 5.08 µs = 5.08 ms against 85 µs. The bytes are the same, the latencies are not.",
        traps=(
            Trap(ONLY, "1", "The bytes are the same, but 1,000 messages pay 1,000 latencies."),
            Trap("latency only", "1,000", "The large message has bytes to send: it takes 85 µs, not 5."),
        ),
    ),
    Quantity(
        name="gradients-in-small-buckets",
        question="2 GB of gradients (what a backward pass computes: one number a parameter) cross a link of "
        "5 µs and 50 GB/s, one way. In 2,000 buckets of 1 MB, one after another, how many times as long do "
        "they take as in one message?",
        answer="1.25",
        hints=(
            "A bucket of 1 MB takes 25 µs.",
            "All buckets take 50 ms; one message takes a little over 40.",
        ),
        solution="from interconnect_lab import links, units\n"
        "link = links.Link(5 * units.us, 50 * units.GBps, source='exercise')\n"
        "answer = 2000 * link.time(1e6) / link.time(2e9)",
        why="50 ms against 40.005 ms. A bucket of 4 · n½ gives a fifth of its time to latency.",
        traps=(
            Trap(ONLY, "1", "Each of the 2,000 buckets pays 5 µs: 10 ms in all."),
            Trap("latency only", "2,000", "The bytes take 40 ms either way; the latencies only add to them."),
            Trap(GAIN, "25 %", "25 % is what is added; as a factor it is 1.25."),
            Trap(INVERSE, "0.8", "That is the time of one message over that of the buckets."),
        ),
    ),
    Quantity(
        name="double-the-bandwidth",
        question="A link of 5 µs goes from 50 to 100 GB/s, one way, at the same latency. By which "
        "factor does a message of 64 KiB get faster?",
        answer="1.12",
        hints=("Compute both times.", "6.31 µs before; the bytes' 1.31 µs are halved."),
        solution="from interconnect_lab import links, units\n"
        "old, new = (links.Link(5 * units.us, rate * units.GBps, source='exercise') for rate in (50, 100))\n"
        "answer = old.time(64 * units.KiB) / new.time(64 * units.KiB)",
        why="6.31 µs become 5.66 µs. Only the bytes get faster, and they were a fifth of the time.",
        traps=(
            Trap(ONLY, "2", "Only the part that is bytes halves. At 64 KiB most of the time is latency."),
            Trap("no effect", "1", "The bytes took 1.31 of 6.31 µs; half of that is gained."),
            Trap(GAIN, "12 %", "12 % is what is gained; as a factor it is 1.12."),
            Trap(INVERSE, "0.9", "That is new time over old time."),
        ),
    ),
    Quantity(
        name="bandwidth-from-two-points",
        question="One link takes 25 µs for 1 MB and 2.025 ms for 101 MB. What is its bandwidth, one way?",
        answer="50 GB/s",
        tolerance=0.001,
        hints=("Latency is in both times: take the difference.", "100 MB more take 2.000 ms more."),
        solution="answer = (101e6 - 1e6) / (2.025e-3 - 25e-6)",
        why="100 MB in 2 ms. The difference of two times holds no latency.",
        traps=(
            Trap("one point", "40 GB/s", "That is 1 MB / 25 µs, and it counts latency as if it were bytes."),
            Trap(
                "one point",
                "49.88 GB/s",
                "That is 101 MB / 2.025 ms, with its 5 µs of latency inside: close, but not the bandwidth.",
            ),
            Trap(BITS, "400 GB/s", "That is in Gb/s; the sizes are in bytes, so 50 GB/s."),
        ),
    ),
    Quantity(
        name="latency-from-two-points",
        question="The same two points: 25 µs for 1 MB, 2.025 ms for 101 MB. What is the latency?",
        answer="5 µs",
        hints=("Find the bandwidth first.", "At 50 GB/s, 1 MB takes 20 µs."),
        solution="bandwidth = (101e6 - 1e6) / (2.025e-3 - 25e-6)\nanswer = 25e-6 - 1e6 / bandwidth",
        why="25 µs less 20 µs of bytes. It is where the line meets size 0.",
        traps=(
            Trap(
                "smallest time", "25 µs", "That is the time of 1 MB, bytes included: 20 µs of it are bytes."
            ),
            Trap(
                "the bytes' part", "20 µs", "That is what the bytes take. Latency is what is left of 25 µs."
            ),
        ),
    ),
    Quantity(
        name="two-points-miss-the-middle",
        question="On 8 H100 an all-reduce takes 15.6 µs at 1 KiB, 2,111 µs at 512 MiB and 78.9 µs at 8 MiB. "
        "Draw the line through the first two points. How many times the line's time does 8 MiB take?",
        answer="1.63",
        tolerance=0.015,
        hints=(
            "α is nearly the 15.6 µs of 1 KiB.",
            "B = 512 MiB in 2,095 µs = 256 GB/s; 8 MiB takes 32.7 µs.",
        ),
        solution="from interconnect_lab import links, specs\n"
        'run = specs.sweep("aic_h100_sxm_nccl2.29.2", op="all_reduce", ranks=8)\n'
        "ends = [run.time(2**10), run.time(2**29)]\n"
        "line = links.fit_link([2**10, 2**29], ends).link\n"
        "answer = run.time(2**23) / line.time(2**23)",
        why="The line says 48.3 µs, 39 % too short: both ends fit, the middle does not.",
        traps=(
            Trap(ONLY, "2.41", "That divides by the bytes' 32.7 µs; the line has 15.6 µs of latency, too."),
            Trap(GIB, "1.69", "That takes 8 MB; the size is 8 MiB, 4.9 % more."),
            Trap(GAIN, "63 %", "8 MiB takes 63 % longer than on the line; as a factor that is 1.63."),
            Trap(INVERSE, "0.613", "That is the line's time over the measured one."),
        ),
    ),
    Choice(
        name="where-two-numbers-fail",
        question="The best two numbers are fitted to each of the four machines of this chapter. At which "
        "sizes is the largest error of every one of them?",
        options=("below 64 KiB", "from 64 KiB to 8 MiB", "above 8 MiB"),
        answer="from 64 KiB to 8 MiB",
        hints=(
            "Look at the residual panels.",
            "Read the size behind ‘worst’ for each machine in the section that fits four machines.",
        ),
        solution="from interconnect_lab import links, specs\n"
        'names = ("v100x8_sxm2_5coll/all_reduce", "aic_a100_sxm_nccl2.27.3/all_reduce/8",\n'
        '         "aic_h100_sxm_nccl2.29.2/all_reduce/8", "a100x16_dgx_2n_deepops")\n'
        "curves = [specs.sweep(name) for name in names]\n"
        "worst = [links.fit_link(curve.nbytes, curve.seconds).worst_size for curve in curves]\n"
        'places = ("below 64 KiB", "from 64 KiB to 8 MiB", "above 8 MiB")\n'
        "[answer] = {places[(size >= 2**16) + (size > 2**23)] for size in worst}",
        why="512 KiB or 8 MiB on all four: there the software changes protocol or algorithm (chapter 07).",
        traps=(
            Trap(
                "latency varies",
                "below 64 KiB",
                "The smallest sizes are off by a tenth or two; latency is one number, and it fits them.",
            ),
            Trap(
                "bandwidth varies",
                "above 8 MiB",
                "Large sizes show the bandwidth, and the second number fits them.",
            ),
        ),
    ),
    Order(
        name="three-links-at-64-kib",
        question="Three links, one way: A has 1 µs and 10 GB/s, B has 10 µs and 400 GB/s, C has 4 µs and "
        "50 GB/s. Order them for a message of 64 KiB, the shortest time first.",
        answer=("C", "A", "B"),
        hints=("Compute latency + size / bandwidth for each.", "A takes 7.55 µs, and most of it is bytes."),
        solution="from interconnect_lab import links, units\n"
        "given = {'A': (1, 10), 'B': (10, 400), 'C': (4, 50)}\n"
        "times = {name: links.Link(latency * units.us, rate * units.GBps, source='exercise')\n"
        "         .time(64 * units.KiB) for name, (latency, rate) in given.items()}\n"
        "answer = tuple(sorted(times, key=times.get))",
        why="C 5.31 µs, A 7.55 µs, B 10.16 µs. Neither the least latency nor the most bandwidth wins here.",
        traps=(
            Trap(ONLY, ("B", "C", "A"), "That is the order of the bandwidths, right for large messages."),
            Trap(
                "latency only", ("A", "C", "B"), "That is the order of the latencies, right for a few bytes."
            ),
        ),
    ),
    Function(
        name="write-half-size",
        question="Write a function that returns the half-speed size in bytes, from latency in seconds and "
        "bandwidth in bytes/s, one way.",
        signature="def half_size(latency, bandwidth):\n    ...",
        hints=("Set latency equal to size / bandwidth.", "Solve for the size."),
        solution="def answer(latency, bandwidth):\n    return latency * bandwidth",
        why="latency × bandwidth, in seconds × bytes/s = bytes.",
        cases=((5e-6, 50e9), (1e-6, 450e9), (0.0, 1e9)),
        answer=lambda latency, bandwidth: Link(latency, bandwidth, source="reader").half_size,
        traps=(
            Trap(BITS, lambda a, b: a * b * 8, "Eight times too large: bandwidth is in bytes/s already."),
            Trap(BITS, lambda a, b: a * b / 8, "Eight times too small: bandwidth is in bytes/s already."),
        ),
    ),
    Function(
        name="write-size-for-share",
        question="Write a function that returns the message size in bytes at which a link (latency in "
        "seconds, bandwidth in bytes/s, one way) reaches a share of its bandwidth (0.9 for 90 %).",
        signature="def size_for_share(latency, bandwidth, share):\n    ...",
        hints=(
            "The bytes take `share` of the time, latency takes 1 − share.",
            "For 90 % it is nine times n½.",
        ),
        solution="def answer(latency, bandwidth, share):\n"
        "    return latency * bandwidth * share / (1 - share)",
        why="size / bandwidth : latency = s : (1 − s), so size = n½ · s / (1 − s).",
        cases=((5e-6, 50e9, 0.9), (5e-6, 50e9, 0.5), (1e-5, 1e9, 0.99)),
        answer=lambda latency, bandwidth, share: latency * bandwidth * share / (1 - share),
        traps=(
            Trap("share of n½", lambda a, b, s: a * b * s, "That is s · n½: for 50 % it gives half of n½."),
            Trap(
                "ten for nine",
                lambda a, b, s: a * b / (1 - s),
                "That is B times the whole time, latency included: the bytes have only `share` of it.",
            ),
        ),
    ),
    Function(
        name="write-a-fit-of-two-points",
        question="Write a function that returns latency (s) and bandwidth (bytes/s), in this order, of the "
        "line through two measured points.",
        signature="def two_points(nbytes1, seconds1, nbytes2, seconds2):\n    ...",
        hints=(
            "Bandwidth is the difference of sizes over that of times.",
            "Latency = seconds1 − nbytes1 / B.",
        ),
        solution="def answer(nbytes1, seconds1, nbytes2, seconds2):\n"
        "    bandwidth = (nbytes2 - nbytes1) / (seconds2 - seconds1)\n"
        "    return seconds1 - nbytes1 / bandwidth, bandwidth",
        why="Two points, two numbers. `links.fit_link` does the same for many points at once.",
        cases=((1e6, 25e-6, 101e6, 2.025e-3), (2e9, 0.3, 1e9, 0.2), (0, 2e-6, 4096, 3e-6)),
        answer=_two_points,
        traps=(
            Trap(
                "swapped",
                lambda n1, t1, n2, t2: _two_points(n1, t1, n2, t2)[::-1],
                "Both numbers are right; latency comes first.",
            ),
            Trap(
                "one point",
                lambda n1, t1, n2, t2: (t1, n2 / t2),
                "That takes size over time of one point as bandwidth, with its latency inside.",
            ),
            Trap(
                "smallest time",
                lambda n1, t1, n2, t2: (t1, (n2 - n1) / (t2 - t1)),
                "The bandwidth is right. The first time holds bytes, too: take nbytes1 / B off.",
            ),
        ),
    ),
)
