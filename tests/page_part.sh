# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Shared by the scripts that look into pages in one file: the JSON of a part.

part() { # file, name
        python3 -c '
import base64, gzip, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
found = re.search("id=\"data-%s\">([^<]*)<" % sys.argv[2], text)
sys.stdout.buffer.write(gzip.decompress(base64.b64decode(found.group(1))) if found else b"")' "$1" "$2"
}
