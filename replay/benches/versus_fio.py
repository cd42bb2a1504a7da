"""fio against fio-replay in turns: paired ratios, medians, minima and maxima.

A pair is one run of each, next to each other in time; the order changes from pair to pair (AB, BA, AB, ...), so that a
drift of the machine falls on both alike. A ratio is fio-replay / fio within a pair. The noise of the machine is the
same ratio between neighbouring runs of fio alone. CPU time is the whole child's (wait4), start-up included, divided
by the I/Os it did. Every pair is checked: the same engine, block size, depth and direction, and for tests with an end
the same number of I/Os and bytes.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

KIB = 1024
READ_FILE = 1 << 30


class Case:
    """One test. `fio` goes to both programs, `only_fio` to fio alone; `target` says where the I/O goes:
    nothing, a device, a file that is read, or new files that are written."""

    def __init__(self, name, about, fio, target, only_fio=(), taskset=None, warm=False, limits=()):
        self.name, self.about, self.fio, self.target = name, about, fio, target
        self.only_fio, self.taskset, self.warm, self.limits = list(only_fio), taskset, warm, limits


def job(engine, rw, depth, *more):
    return [f"--ioengine={engine}", f"--rw={rw}", "--bs=4k", f"--iodepth={depth}", *more]


# What a case must show: the figure, its lowest and its highest good value. `ratio` figures are medians of pairs.
FIO_CASES = [
    Case("null-1", "null engine, depth 1", job("null", "randread", 1, "--size=2g"), "none",
         limits=[("cpu ns", None, 35), ("iops ratio", 4, None)]),
    Case("null-32", "null engine, depth 32", job("null", "randread", 32, "--size=2g"), "none",
         limits=[("cpu ns", None, 20), ("iops ratio", 4, None)]),
    Case("device-32", "io_uring O_DIRECT on the device", job("io_uring", "randread", 32, "--direct=1", "--size=1g"),
         "device", limits=[("user ratio", None, 0.2), ("cpu ratio", None, 0.75), ("iops ratio", 1.15, None)]),
    Case("device-32-batched", "the same; fio with batching, fixedbufs and registerfiles",
         job("io_uring", "randread", 32, "--direct=1", "--size=1g"), "device",
         only_fio=["--fixedbufs=1", "--registerfiles=1", "--iodepth_batch_submit=16",
                   "--iodepth_batch_complete_min=1", "--iodepth_batch_complete_max=32"],
         limits=[("iops ratio", 0.85, None)]),
    Case("direct-32", "io_uring O_DIRECT on the file system", job("io_uring", "randread", 32, "--direct=1"), "file",
         limits=[("iops ratio", 0.98, 1.10), ("cpu ratio", None, 0.70), ("p50 ratio", 0.97, 1.03),
                 ("p99 ratio", 0.90, 1.10)]),
    Case("direct-1", "psync O_DIRECT on the file system", job("psync", "randread", 1, "--direct=1"), "file",
         limits=[("p50 ratio", 0.97, 1.03), ("p99 ratio", 0.90, 1.10)]),
    Case("cached-read-psync", "psync, cached", job("psync", "randread", 1, "--invalidate=0"), "file", warm=True,
         limits=[("iops ratio", 1.2, None)]),
    Case("cached-write-psync", "psync, buffered random writes", job("psync", "randwrite", 1, "--size=512m"), "new",
         limits=[("iops ratio", 1.15, None)]),
    Case("cached-read-1", "io_uring, cached, depth 1", job("io_uring", "randread", 1, "--invalidate=0"), "file",
         warm=True, limits=[("iops ratio", 1.15, None)]),
    Case("cached-read-32", "io_uring, cached, depth 32", job("io_uring", "randread", 32, "--invalidate=0"), "file",
         warm=True, limits=[("iops ratio", 1.5, None)]),
    Case("posixaio", "posixaio random writes with end_fsync",
         job("posixaio", "randwrite", 1, "--size=4g", "--end_fsync=1"), "new", limits=[("bw ratio", 0.80, 1.10)]),
    Case("posixaio-pinned", "the same, both programs on CPU 0",
         job("posixaio", "randwrite", 1, "--size=4g", "--end_fsync=1"), "new", taskset="0",
         limits=[("bw ratio", 1.0, None)]),
    Case("finite", "psync, 64 MiB written once: both must do the same I/O",
         job("psync", "randwrite", 1, "--size=64m", "--fsync=1000"), "new"),
]
DD_CASES = {
    "dd-buffered": "dd if=/dev/zero of={} bs=1M count=1024",
    "dd-dsync": "dd if=/dev/zero of={} bs=1M count=1024 oflag=dsync conv=notrunc",
}


class Failed(Exception):
    pass


def child(words, cwd):
    """Runs a program; gives its output, its CPU seconds (user, system), its wall seconds."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(words, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=cwd)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text, talk = out.read().decode(), err.read().decode()
    if process.returncode != 0:
        raise Failed(f"{' '.join(words)}\nended with {process.returncode}: {talk.strip() or text.strip()}")
    return text, talk, usage.ru_utime, usage.ru_stime


def figures(text, user, system):
    """The figures of a run from its JSON, in ns, per I/O."""
    entry = json.loads(text[text.index("{"):])["jobs"][0]
    side = max((entry["read"], entry["write"]), key=lambda side: side["total_ios"])
    ios = side["total_ios"]
    if not ios or entry["error"]:
        raise Failed(f"a run did {ios} I/Os and ended with error {entry['error']}")
    options = entry["job options"]
    percentile = side.get("clat_ns", {}).get("percentile") or side["lat_ns"].get("percentile", {})
    return {
        "iops": side["iops"],
        "bw": side["bw_bytes"],
        "user ns": user * 1e9 / ios,
        "sys ns": system * 1e9 / ios,
        "cpu ns": (user + system) * 1e9 / ios,
        "p50": percentile.get("50.000000"),
        "p99": percentile.get("99.000000"),
        "lat": side["lat_ns"]["mean"],
        "same": {
            "engine": options.get("ioengine"), "depth": int(options.get("iodepth", 1)), "rw": options.get("rw"),
            "block": side["io_bytes"] / ios, "bytes": side["io_bytes"], "ios": ios,
            "syncs": entry.get("sync", {}).get("total_ios"),
        },
    }


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = tempfile.mkdtemp(prefix="versus-fio.", dir=arguments.dir)
        self.file = os.path.join(self.folder, "read-file")

    def clean(self):
        subprocess.run(["rm", "-rf", self.folder], check=True)

    def prepare(self, case):
        if case.target == "file" and not os.path.exists(self.file):
            child(["fio", "--name=layout", f"--filename={self.file}", "--rw=write", "--bs=1m", f"--size={READ_FILE}",
                   "--end_fsync=1", "--output-format=json"], self.folder)
        if case.warm:
            with open(self.file, "rb") as file:
                while file.read(1 << 20):
                    pass

    def common(self, case):
        words = ["--name=versus", *case.fio]
        if case.name != "finite":
            words += ["--time_based", f"--runtime={self.arguments.seconds}"]
        if case.target == "file":
            words.append(f"--size={READ_FILE}")
        return words

    def fio(self, case):
        place = {"none": [], "device": [f"--filename={self.arguments.device}"], "file": [f"--filename={self.file}"],
                 "new": [f"--directory={self.folder}", "--unlink=1"]}[case.target]
        words = ["fio", *self.common(case), *case.only_fio, *place, "--output-format=json+"]
        return self.run(case, words)

    def replay(self, case):
        place = {"device": ["--device", self.arguments.device], "file": ["--device", self.file]}.get(case.target, [])
        words = [self.arguments.replay, "--directory", self.folder, *place, "--format=json+"]
        words += ["--as-fio"] * self.arguments.as_fio + self.arguments.extra
        return self.run(case, [*words, "--", "fio", *self.common(case)])

    def run(self, case, words):
        if case.taskset is not None:
            words = ["taskset", "-c", case.taskset, *words]
        text, _, user, system = child(words, self.folder)
        return figures(text, user, system)

    def fio_case(self, case):
        self.prepare(case)
        pairs, fios = [], []
        for number in range(self.arguments.pairs):
            if number % 2 == 0:
                fio, replay = self.fio(case), self.replay(case)
            else:
                replay, fio = self.replay(case), self.fio(case)
            check(case, fio["same"], replay["same"])
            pairs.append((fio, replay))
            fios.append(fio)
        rows = []
        for name in ["iops", "bw", "user ns", "sys ns", "cpu ns", "p50", "p99", "lat"]:
            values = [(fio[name], replay[name]) for fio, replay in pairs]
            if any(value is None for pair in values for value in pair):
                continue
            noise = [b[name] / a[name] for a, b in zip(fios, fios[1:]) if a[name]]
            rows.append(row(name, values, noise))
        report(case.name, case.about, rows, case.limits)

    def dd_case(self, name):
        in_place = "notrunc" in DD_CASES[name]
        target = os.path.join(self.folder, "dd-file")
        command = DD_CASES[name].format(target)

        def dd():
            if not in_place and os.path.exists(target):
                os.remove(target)
            os.sync()
            if in_place:
                if not os.path.exists(target):
                    child(command.split() + ["conv=fsync"], self.folder)
                # replay writes over a file that it has laid out and dropped from the cache: so here too
                with open(target, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            return rate(child(command.split(), self.folder)[1])

        def replay():
            if not in_place and os.path.exists(target):
                os.remove(target)
            os.sync()
            text, talk, _, _ = child(
                [self.arguments.replay, "--directory", self.folder, "--", *command.split()], self.folder)
            return rate(text + talk)

        pairs, dds = [], []
        for number in range(self.arguments.pairs):
            if number % 2 == 0:
                pair = dd(), replay()
            else:
                pair = tuple(reversed((replay(), dd())))
            pairs.append(pair)
            dds.append(pair[0])
        noise = [b / a for a, b in zip(dds, dds[1:])]
        report(name, command.replace(target, "FILE"), [row("bw", pairs, noise)], [("bw ratio", 0.97, 1.05)])


def rate(talk):
    found = re.search(r"(\d+) bytes .*copied, ([0-9.e+-]+) s", talk)
    if not found:
        raise Failed(f"no line of dd in: {talk.strip()}")
    return int(found[1]) / float(found[2])


def check(case, fio, replay):
    """Both did the same I/O, or the comparison is worth nothing."""
    for part in ["engine", "depth", "rw", "block"]:
        if fio[part] != replay[part]:
            raise Failed(f"{case.name}: {part} is {fio[part]} with fio and {replay[part]} with fio-replay")
    if case.name == "finite":
        for part in ["bytes", "ios", "syncs"]:
            if fio[part] != replay[part]:
                raise Failed(f"{case.name}: {part} are {fio[part]} with fio and {replay[part]} with fio-replay")


def row(name, values, noise):
    ratios = [replay / fio for fio, replay in values if fio]
    return {
        "name": name,
        "fio": statistics.median(fio for fio, _ in values),
        "replay": statistics.median(replay for _, replay in values),
        "ratios": ratios,
        "noise": noise,
    }


def spread(values):
    if not values:
        return "-"
    return f"{statistics.median(values):.3f} [{min(values):.3f}-{max(values):.3f}]"


def report(name, about, rows, limits):
    print(f"\n{name}: {about}")
    print(f"  {'':8} {'fio':>12} {'fio-replay':>12}  {'ratio, median [min-max]':26} fio to fio")
    for line in rows:
        print(f"  {line['name']:8} {line['fio']:12.4g} {line['replay']:12.4g}  {spread(line['ratios']):26} "
              f"{spread(line['noise'])}")
    by_name = {line["name"]: line for line in rows}
    for figure, low, high in limits:
        word = figure.removesuffix(" ratio")
        line = by_name.get(word) or by_name.get(f"{word} ns")
        if line is None:
            print(f"  MISSING {figure}")
            continue
        value = statistics.median(line["ratios"]) if figure.endswith("ratio") else line["replay"]
        good = (low is None or value >= low) and (high is None or value <= high)
        wanted = " and ".join(
            text for text in [low is not None and f"at least {low}", high is not None and f"at most {high}"] if text)
        print(f"  {'held  ' if good else 'MISSED'} {figure} {value:.3f}, wanted {wanted}")
    sys.stdout.flush()


def main():
    names = [case.name for case in FIO_CASES] + list(DD_CASES)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", help="names of cases; all if none is given")
    parser.add_argument("--list", action="store_true", help="show the cases")
    parser.add_argument("--replay", default="target/release/fio-replay", help="the binary")
    parser.add_argument("--dir", default=".", help="where test files go (not a memory file system)")
    parser.add_argument("--device", help="block device for the cases named device-*; it is only read")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", default="1", help="length of a run")
    parser.add_argument("--as-fio", action="store_true", help="run fio-replay with --as-fio")
    parser.add_argument("--extra", action="append", default=[], help="one more word for fio-replay")
    arguments = parser.parse_args()
    if arguments.list:
        for case in FIO_CASES:
            print(f"{case.name}: {case.about}")
        for name, command in DD_CASES.items():
            print(f"{name}: {command.format('FILE')}")
        return
    unknown = set(arguments.case) - set(names)
    if unknown:
        parser.error(f"unknown cases: {', '.join(sorted(unknown))}; --list shows them")
    arguments.replay = os.path.abspath(arguments.replay)
    arguments.dir = os.path.abspath(arguments.dir)
    version = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{version} against fio-replay{' --as-fio' * arguments.as_fio}, {arguments.pairs} pairs of "
          f"{arguments.seconds} s, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    bench = Bench(arguments)
    failed = False
    try:
        for name in arguments.case or names:
            case = next((case for case in FIO_CASES if case.name == name), None)
            if case and case.target == "device" and not arguments.device:
                print(f"\n{name}: left out, --device was not given")
                continue
            try:
                bench.fio_case(case) if case else bench.dd_case(name)
            except Failed as error:
                print(f"\n{name}: FAILED: {error}")
                failed = True
    finally:
        bench.clean()
    sys.exit(failed)


if __name__ == "__main__":
    main()
