#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# IREE's own runtime, built with hyprof as its tracing provider, records all that happens in it, in each mode of its tracing:
# `make test-iree IREE_SOURCE=DIR`, which builds it.  IREE_MODES chooses modes
set -eu
. tests/tap.sh
. tests/iree/checks.sh
read -r -a modes <<<"${IREE_MODES:-1 2 3 4 locks}"
n_planned=0
for mode in "${modes[@]}"; do
        n_planned=$((n_planned + ${n_iree_cases[$mode]}))
done
plan $n_planned
need jq
need_sampling
exec 3>&1

iree_record() { # name, command...
        record "$1" -e cpu-clock -- "${@:2}"
}
for mode in "${modes[@]}"; do
        iree_there=build/iree/$(uname -m)-$mode/there
        [ -d "$iree_there" ] || skip_all "IREE's runtime was not built: make test-iree IREE_SOURCE=DIR builds it"
        iree_runtime "$mode"
done
