# SPDX-License-Identifier: MIT
"""Checks a label of 2,500 joiners with idna, and then encodes 3,000 domains; the package lies in the first argument."""
import sys

sys.path.insert(0, sys.argv[1])
import idna  # noqa: E402

try:
    idna.check_label("\u0628" + "\u200c" * 2500 + "\u0628")
except idna.IDNAError:
    pass
print(sum(len(idna.encode("b\u00fccher%d.example" % i)) for i in range(3000)))
