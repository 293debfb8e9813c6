#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what three symbolizers say of random addresses of one ELF file.

    compare_symbolizers.py --ours symbolize_addresses [--count N] [--seed N] [--debug-dir DIR] [--show N]
                           [--eu-max N] [--peer-file FILE] FILE

--peer-file is the same code with debug information that the peers can read.

llvm-symbolizer is asked for every address, eu-addr2line, which is slow, for those where ours differs from llvm's, and
for a few dozen others.  Prints lines "KEY VALUE": addresses, functions, lines and chains (percent that agree with
either peer), peer_functions, peer_lines and peer_chains (how often the peers agree with each other, where both were
asked), and for each class of differences "class NAME COUNT".  docs/understand/symbolization.md explains the classes.
"""
import argparse
import bisect
import collections
import functools
import os
import random
import re
import subprocess
import sys

LLVM = os.environ.get("LLVM_SYMBOLIZER", "llvm-symbolizer-14")
EU = "eu-addr2line"
EU_SAMPLE = 40


def lines_of(command, text=""):
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, errors="replace", check=False)
    # eu-addr2line ends with 1 when it does not know an address.
    if done.returncode != 0 and command[0] != EU:
        sys.exit(f"{command[0]}: exit status {done.returncode}")
    return done.stdout.splitlines()


def text_ranges(path):
    """Address ranges of the executable sections that hold functions."""
    ranges = []
    for line in lines_of(["readelf", "-SW", path]):
        words = re.sub(r"^ *\[ *\d+\] *", "", line).split()
        if len(words) >= 8 and words[1] == "PROGBITS" and "X" in words[6] and not words[0].startswith(".plt"):
            ranges.append((int(words[2], 16), int(words[4], 16)))
    return [r for r in ranges if r[1] > 64] or ranges


def function_symbols(path):
    """Functions of the symbol tables: sorted starts, ends by start, and all names by start."""
    ends, names = {}, collections.defaultdict(set)
    for line in lines_of(["readelf", "-sW", path]):
        words = line.split()
        if len(words) >= 8 and words[3] in ("FUNC", "IFUNC") and words[6] != "UND":
            start = int(words[1], 16)
            ends[start] = max(ends.get(start, start), start + int(words[2], 0))
            names[start].add(words[7].split("@")[0])
    return sorted(ends), ends, names


@functools.lru_cache(maxsize=None)
def place_of(text):
    """file:line:column -> normalized file and line; the column is told apart by other tests."""
    parts = text.rsplit(":", 2)
    # eu-addr2line says "??:0" and "file:line" where it knows no column.
    if len(parts) == 3 and parts[1].isdigit():
        name, line = parts[0], parts[1]
    else:
        name, line = text.rsplit(":", 1)
    line = re.sub(r"\D.*", "", line)
    # Without a line, llvm-symbolizer names the object file of the symbol table instead of a source file.
    return (os.path.normpath(name), int(line)) if line and int(line) > 0 else ("??", 0)


SUFFIX = re.compile(r"(\.(isra|constprop|part|cold|lto_priv|llvm|localalias|__uniq)(\.\d+)*)+$")
demangled = {}
PLAIN = {}


def demangle(names):
    """All names by one demangler: the peers' own write lambdas, blanks and return types differently."""
    names = sorted({n for n in names if n.startswith("_") and n not in demangled})
    for i in range(0, len(names), 1000):
        part = names[i:i + 1000]
        demangled.update(zip(part, lines_of(["c++filt"], "\n".join(part) + "\n")))


def plain(name):
    """A function's name without what symbol tables add."""
    if name not in PLAIN:
        PLAIN[name] = plain_of(demangled.get(name, name))
    return PLAIN[name]


def plain_of(name):
    name = SUFFIX.sub("", re.sub(r" \[clone [^\]]*\]", "", name).split("@")[0])
    return re.sub(r"\s", "", name)


def base_name(name):
    """Without arguments, template arguments, return type and scope: debug information may have no more."""
    name = plain(name)
    depth, kept = 0, []
    for c in name.replace("operator<<", "operatorLL").replace("operator<", "operatorL").replace("operator>", "operatorG") \
                 .replace("operator()", "operatorC").replace("(anonymousnamespace)", "").replace("->", ""):
        depth -= c in ">)]}"
        if depth == 0 and c not in "<([{>)]}":
            kept.append(c)
        depth += c in "<([{"
    return "".join(kept).split("::")[-1]


def group(lines):
    """Blank-line separated chains of (function, place)."""
    chains, chain = [], []
    for line in lines:
        if line == "" and chain:
            chains.append([(chain[i], place_of(chain[i + 1])) for i in range(0, len(chain) - 1, 2)])
            chain = []
        elif line != "":
            chain.append(line)
    if chain:
        chains.append([(chain[i], place_of(chain[i + 1])) for i in range(0, len(chain) - 1, 2)])
    return chains


def ask_eu(path, addresses, debug_dirs):
    command = [EU, "-a", "-i", "-f", "-e", path]
    if debug_dirs:
        command.append("--debuginfo-path=" + ":".join(debug_dirs))
    chains = {}
    for i in range(0, len(addresses), 500):
        current = None
        lines = lines_of(command, "".join(f"{a:#x}\n" for a in addresses[i:i + 500]))
        for line in lines:
            if re.fullmatch(r"0x[0-9a-f]+", line):
                current = chains.setdefault(int(line, 16), [])
            elif current is not None:
                current.append(line)
    pairs = {}
    for address, lines in chains.items():
        lines = [re.sub(r" inlined at .*", "", line) for line in lines]
        chain = [(lines[i], place_of(lines[i + 1])) for i in range(0, len(lines) - 1, 2)]
        # Where functions were folded it prints the same chain several times.
        for n in range(1, len(chain) // 2 + 1):
            if chain == chain[:n] * (len(chain) // n):
                chain = chain[:n]
                break
        pairs[address] = chain
    return pairs


class File:
    def __init__(self, path):
        self.starts, self.ends, self.names = function_symbols(path)

    def symbol_at(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        return self.starts[i] if i >= 0 and address < self.ends[self.starts[i]] else None

    def is_alias(self, address, a, b):
        """Both names are symbols of the same function: folded bodies, aliases, parts."""
        start = self.symbol_at(address)
        if start is None:
            return False
        demangle(self.names[start])
        names = {plain(n) for n in self.names[start]}
        return plain(a) in names and plain(b) in names


def same_function(a, b):
    return plain(a) == plain(b)


def same_frame(a, b):
    return same_function(a[0], b[0]) and a[1][1] == b[1][1] and \
        (a[1][0] == b[1][0] or os.path.basename(a[1][0]) == os.path.basename(b[1][0]))


def same(kind, ours, peer):
    if kind == "functions":
        return same_function(ours[-1][0], peer[-1][0])
    if kind == "lines":
        return ours[0][1][1] == peer[0][1][1] and os.path.basename(ours[0][1][0]) == os.path.basename(peer[0][1][0])
    return len(ours) == len(peer) and all(same_frame(a, b) for a, b in zip(ours, peer))


def knows_less(eu, llvm):
    """To agree with one that found neither lines nor inlined calls proves nothing."""
    return len(eu) < len(llvm) or (eu[0][1][1] == 0 and llvm[0][1][1] != 0)


def classify(kind, file, address, ours, llvm, eu):
    """A word for why ours agrees with neither."""
    if file.symbol_at(address) is None:
        return "between_functions"
    peers_agree = same(kind, llvm, eu)
    if kind == "functions":
        if base_name(ours[-1][0]) == base_name(llvm[-1][0]) or base_name(ours[-1][0]) == base_name(eu[-1][0]):
            return "spelling"
        if file.is_alias(address, ours[-1][0], llvm[-1][0]) or file.is_alias(address, ours[-1][0], eu[-1][0]):
            return "alias"
        if ours[-1][0] == "??":
            return "unknown_here"
        return "other_function" if peers_agree else "all_differ"
    if kind == "lines":
        if ours[0][1][1] == 0:
            return "no_line_here"
        if llvm[0][1][1] == 0 or eu[0][1][1] == 0:
            return "no_line_there"
        return "other_line" if peers_agree else "all_differ"
    if len(ours) < len(llvm):
        return "shorter_chain"
    if len(ours) > len(llvm):
        return "longer_chain"
    if all(base_name(a[0]) == base_name(b[0]) for a, b in zip(ours, llvm)):
        if all(same_function(a[0], b[0]) for a, b in zip(ours, llvm)):
            return "other_line_in_chain"
        return "spelling"
    return "other_chain" if peers_agree else "all_differ"


def short(frame):
    return f"{plain(frame[0])[-60:]} {os.path.basename(frame[1][0])}:{frame[1][1]}"


KINDS = ("functions", "lines", "chains")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", required=True)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--debug-dir", action="append", default=[])
    parser.add_argument("--show", type=int, default=0, help="differences of each class to print")
    parser.add_argument("--eu-max", type=int, default=4000, help="differences from llvm's that eu-addr2line is asked about")
    parser.add_argument("--peer-file", help="ask the peers about this file")
    parser.add_argument("file")
    o = parser.parse_args()

    peer_file = o.peer_file or o.file
    ranges = text_ranges(o.file)
    if text_ranges(peer_file) != ranges:
        sys.exit(f"{peer_file} is not the same code")
    rng = random.Random(o.seed)
    picked = rng.choices(ranges, weights=[r[1] for r in ranges], k=o.count)
    addresses = [start + rng.randrange(n_bytes) for start, n_bytes in picked]
    text = "".join(f"{a:#x}\n" for a in addresses)
    dirs = [w for d in o.debug_dir for w in ("--debug-dir", d)]
    ours = group(lines_of([o.ours] + dirs + [o.file], text))
    llvm = group(lines_of([LLVM, "--inlines", "--no-demangle", "-e", peer_file] + [f"--debug-file-directory={d}" for d in o.debug_dir], text))
    if len(ours) != o.count or len(llvm) != o.count:
        sys.exit(f"{o.count} addresses, {len(ours)} answers, {len(llvm)} of {LLVM}")

    file = File(o.file)
    demangle(f[0] for chain in llvm for f in chain)
    differing = {i for i in range(o.count) if not all(same(k, ours[i], llvm[i]) for k in KINDS)}
    differing = set(sorted(differing)[:o.eu_max])
    asked = sorted(differing | set(range(min(EU_SAMPLE, o.count))))
    eu = ask_eu(peer_file, [addresses[i] for i in asked], o.debug_dir)

    demangle(f[0] for chain in eu.values() for f in chain)

    print("addresses", o.count)
    for kind in KINDS:
        n_same, classes, shown = 0, collections.Counter(), collections.Counter()
        for i, address in enumerate(addresses):
            if same(kind, ours[i], llvm[i]):
                n_same += 1
                continue
            other = eu.get(address) or [("??", ("??", 0))]
            if same(kind, ours[i], other) and not knows_less(other, llvm[i]):
                n_same += 1
                name = "peers_differ"
            else:
                name = classify(kind, file, address, ours[i], llvm[i], other)
            classes[name] += 1
            if shown[name] < o.show:
                shown[name] += 1
                print(f"  {kind} {name} {address:#x}")
                for who, chain in (("ours", ours[i]), ("llvm", llvm[i]), ("eu", other)):
                    print(f"    {who:5}" + " < ".join(short(f) for f in chain[:8]))
        print(kind, f"{100 * n_same / o.count:.3f}")
        sample = [i for i in range(min(EU_SAMPLE, o.count)) if addresses[i] in eu]
        agree = sum(same(kind, llvm[i], eu[addresses[i]] or [("??", ("??", 0))]) for i in sample)
        print("peer_" + kind, f"{100 * agree / max(1, len(sample)):.1f}")
        for name, n in classes.most_common():
            print("class", f"{kind}:{name}", n)


main()
