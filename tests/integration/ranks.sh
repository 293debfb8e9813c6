#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The recipes for ranks (docs/use/ranks.md): each rank is recorded beside the others, and all come onto one timeline; the one that is late is named
set -eu
. tests/tap.sh
plan 36
need jq
need_sampling
tree=$PWD
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

# ---- which rank the others wait for: rank 2 computes for longer, or none does
zone() { # trace, zone, jq expression
        "$HYPROF" report --zone "$2" --json --limit 0 "$1" 2>/dev/null | jq -r "$3"
}
n_ranks=4
start_ranks() { # name, late rank: a recorder each
        local rank
        rm -f shared
        for ((rank = 0; rank < n_ranks; rank++)); do
                "$HYPROF" record -q -o "$1$rank.hyp" -- "$WORKLOADS/w_ranks" shared $n_ranks $rank 30 "$2" >"$1$rank.last" &
        done
        wait
        "$HYPROF" merge -q "$1"?.hyp -o "$1.hyp"
}
start_ranks late 2
for zone in step barrier; do
        holds "$zone: four processes" same "4 4 30" "$(zone late.hyp $zone '"\(.n_ranks) \(.ranks.rows | length) \(.n_compared)"')"
        holds "$zone: rank 2 is the one that the others wait for" grep -qE '^w_ranks@[^ ]*late2 [0-9]+: last into ' <(zone late.hyp $zone .late)
        holds "$zone: it was last most often" same late2 "$(zone late.hyp $zone '.ranks.rows | max_by(.n_last).recording' | sed 's/.*://')"
        holds "$zone: by most of 55 ms" compare "$(zone late.hyp $zone '.ranks.rows | max_by(.n_last).late_ns')" ">" 20000000
done
holds "step: the barrier is inside" same "into the last zone inside" "$(zone late.hyp step .barrier)"
holds "barrier: the barrier is the zone" same "into an instance" "$(zone late.hyp barrier .barrier)"
holds "step: even, as all wait" compare "$(zone late.hyp step .imbalance)" "<" 1.2
holds "compute: uneven" compare "$(zone late.hyp compute .imbalance)" ">" 1.5
holds "compute: the most is that of rank 2" same late2 "$(zone late.hyp compute '.ranks.rows[0].recording' | sed 's/.*://')"
holds "the mean of a process beside the sum" same true \
        "$(zone late.hyp step '((.total_ns / 4 - .mean_rank_ns) | fabs) < 10')"
holds "the answer says it" grep -qE '^zone step: .* in each of 4 processes in the mean, which wait for w_ranks@[^ ]*late2 ' \
        <(zone late.hyp step .answer)
for by in process recording host; do
        holds "--group-by $by" same "$by $([ $by = host ] && echo 1 || echo 4) 120" \
                "$("$HYPROF" report --zone step --group-by $by --json late.hyp 2>/dev/null | jq -r '"\(.group_by) \(.n_groups) \([.groups.rows[].count] | add)"')"
done

late_why() { "$HYPROF" why --zone step --json "$1" 2>/dev/null | jq -r "$2"; }
holds "why names the rank, not the barrier" grep -qE '^w_ranks@[^ ]*late2 \(PID [0-9]+\): last into the last zone inside in [0-9]+ of 30, by ' \
        <(late_why late.hyp .late)
holds "its answer begins with that" grep -qE '^w_ranks@[^ ]*late2 .*, so the others waited; ' <(late_why late.hyp .answer)

# On a busy machine one of them may really be the last nearly always: then it may be named, and no other.
start_ranks even -1
last=$(for ((rank = 0; rank < n_ranks; rank++)); do echo "$(<even$rank.last) even$rank"; done | sort -n | tail -n 1)
is_right() { # what is named
        [ "$1" = null ] && return 0
        echo "last most often: $last of 30"
        [ "${last% *}" -gt 15 ] && [[ $1 == *":${last#* } "* ]]
}
holds "why of balanced ranks names none" is_right "$(late_why even.hyp .late)"
holds "balanced ranks: none is named" is_right "$(zone even.hyp step .late)"

# The same in one recording.
rm -f shared
# shellcheck disable=SC2016 # for the recorded shell
"$HYPROF" record -q -o all.hyp -- sh -c 'for r in 0 1 2 3; do "$WORKLOADS/w_ranks" shared 4 $r 30 1 & done; wait' >all.last
holds "one recording: four processes" same "4 30" "$(zone all.hyp step '"\(.n_ranks) \(.n_compared)"')"
holds "one recording: the one with the most compute is the one they wait for" same "$(zone all.hyp compute '.ranks.rows[0].process')" \
        "$(zone all.hyp step .late | sed 's/: last .*//')"

# ---- MPI: four ranks meet in its barrier; rank 2 comes 200 ms after the others.  They sleep there: ranks that spin leave it
# when they get one of the few CPUs again.
if ! command -v mpirun >/dev/null || ! command -v mpicc >/dev/null; then
        skips_group "MPI" "network: no MPI is installed; tests/install_packages.sh mpi installs MPICH"
        exit 0
fi
cat >app.c <<'END'
#include "hyprof/hyprof.h"

#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
        MPI_Request request;
        int rank;

        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 15; i++) {
                HYPROF_ZONE_BEGIN(step, "step");
                HYPROF_ZONE_BEGIN(compute, "compute");
                (void)usleep(rank == 2 ? 205000 : 5000);
                HYPROF_ZONE_END(compute);
                HYPROF_ZONE_BEGIN(barrier, "barrier");
                MPI_Ibarrier(MPI_COMM_WORLD, &request);
                for (int is_over = 0; !is_over; (void)usleep(500))
                        MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
                HYPROF_ZONE_END(barrier);
                HYPROF_ZONE_END(step);
        }
        return MPI_Finalize();
}
END
mpicc -g -O1 "-I$tree/instrument/client/include" -o app app.c "$BUILD/libhyprof.a" -lpthread >mpi.out 2>&1 || cat mpi.out
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# shellcheck disable=SC2016 # the ranks' shells expand it
mpirun -n 4 sh -c 'exec "$HYPROF" record -q -o "rank${OMPI_COMM_WORLD_RANK:-$PMI_RANK}.hyp" -- ./app' >mpi.out 2>&1 ||
        figure "mpirun: $(tail -n 1 mpi.out)"
holds "MPI: the traces of four ranks merge" ends_with 0 "$HYPROF" merge rank?.hyp -o job.hyp
holds "MPI: exactly" same "REFERENCE SAME_BOOT SAME_BOOT SAME_BOOT" "$(ranks job.hyp '.recordings.rows | map(.clock) | join(" ")')"
holds "MPI: zones of all" same "4 60 15" "$(zone job.hyp step '"\(.n_ranks) \([.ranks.rows[].count] | add) \(.n_compared)"')"
holds "MPI: the report names the rank that the others waited for" grep -qE '^app@[^ ]*rank2 ' <(zone job.hyp step .late)
holds "MPI: so does why, and not the barrier" grep -qE '^app@[^ ]*rank2 ' <(late_why job.hyp .late)
"$HYPROF" record -q -o whole.hyp -- mpirun -n 4 ./app >mpi.out 2>&1 || figure "mpirun: $(tail -n 1 mpi.out)"
holds "MPI: one recording around all of them: the same four processes" same "4 60 $(zone whole.hyp compute '.ranks.rows[0].process')" \
        "$(zone whole.hyp step '"\(.n_ranks) \([.ranks.rows[].count] | add) \(.late // "none" | sub(": last .*"; ""))"')"
