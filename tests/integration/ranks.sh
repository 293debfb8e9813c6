#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The recipes for ranks (docs/use/ranks.md): each rank is recorded beside the others, and all come onto one timeline
set -eu
. tests/tap.sh
plan 12
need jq
need_sampling
cd "$TMPDIR"
export HYPROF WORKLOADS

ranks() { "$HYPROF" report --json --limit 0 "$1" | jq -r "$2"; }
judge() { # which
        holds "$1: a trace of each rank" test -s rank0.hyp -a -s rank1.hyp
        holds "$1: they merge" ends_with 0 "$HYPROF" merge --force rank0.hyp rank1.hyp -o job.hyp
        holds "$1: exactly" same "REFERENCE SAME_BOOT" "$(ranks job.hyp '.recordings.rows | map(.clock) | join(" ")')"
        holds "$1: called after their ranks" same "rank0 rank1" "$(ranks job.hyp '.recordings.rows | map(.trace) | join(" ")')"
        holds "$1: zones of both" same "$(($(ranks rank0.hyp .n_zones) + $(ranks rank1.hyp .n_zones)))" "$(ranks job.hyp .n_zones)"
        holds "$1: they ran at the same time" compare "$(ranks job.hyp .duration_ns)" "<" \
                "$(ranks rank0.hyp .duration_ns) + $(ranks rank1.hyp .duration_ns)"
        rm -f rank?.hyp job.hyp
}

# As a launcher starts them: torchrun, srun and others set the number of the rank like this.  The second begins when the
# first is there, and both go on until both have begun.
cat >rank.sh <<'END'
touch "begun$RANK"
while [ ! -e begun0 ] || [ ! -e begun1 ]; do sleep 0.01; done
exec "$WORKLOADS/w_two_zones" 0.3 1
END
for rank in 0 1; do
        RANK=$rank sh -c 'exec "$HYPROF" record -q -o "rank$RANK.hyp" -- sh rank.sh' >"$rank.out" 2>&1 &
done
wait
judge launcher

# ---- MPI: the ranks meet in a barrier
if ! command -v mpirun >/dev/null || ! command -v mpicc >/dev/null; then
        skips_group "OpenMPI" "network: OpenMPI is not installed, and its 29 packages are not fetched for this (openmpi-bin, libopenmpi-dev)"
        exit 0
fi
cat >app.c <<'END'
#include <mpi.h>

int main(int argc, char **argv)
{
        volatile unsigned long n = 0;

        MPI_Init(&argc, &argv);
        MPI_Barrier(MPI_COMM_WORLD);
        for (unsigned long i = 0; i < 100000000; i++)
                n += i;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return n == 0;
}
END
mpicc -g -O1 -o app app.c
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# shellcheck disable=SC2016 # the ranks' shells expand it
mpirun --oversubscribe -n 2 sh -c 'exec "$HYPROF" record -q -o "rank$OMPI_COMM_WORLD_RANK.hyp" -- ./app' >mpi.out 2>&1 ||
        figure "mpirun: $(tail -n 1 mpi.out)"
judge OpenMPI
