#!/bin/sh
# SPDX-License-Identifier: MIT
# The folders form a one-way street; this is its only definition.  Usage: include_order.sh [root]
set -eu
cd "${1:-.}"

# Every folder sees itself and base, and all but base see format.  A name without a wing means all of its wings.
allowed() { # folder -> the other folders and single files that it may include
        case $1 in
        base) ;;
        format) ;;

        symbolize/elf)     ;;
        symbolize/debug)   echo symbolize/elf ;;
        symbolize/index)   echo symbolize/elf symbolize/debug ;;
        symbolize/images)  echo symbolize/elf symbolize/debug ;;
        symbolize/kernel)  echo symbolize/images ;;
        symbolize/symbols) echo symbolize/elf symbolize/debug symbolize/index symbolize/images symbolize/kernel ;;
        symbolize/stacks)  echo symbolize/elf symbolize/debug symbolize/images unwind sampler/tracks/address_space.h ;;
        symbolize/process) echo symbolize/elf symbolize/debug symbolize/images symbolize/kernel symbolize/symbols ;;
        symbolize/listing) echo symbolize/elf symbolize/images symbolize/symbols ;;

        instrument/client) echo instrument/client_abi.h base/namespace_clock.h hyprof ;;
        instrument/compat) ;; # the public header, like programs
        instrument)        ;;
        unwind)            echo symbolize/elf/elf_image.h symbolize/elf/cfi_section.h symbolize/elf/frame_sections.h \
                                symbolize/elf/go_functions.h ;;

        sampler/bpf)       ;;
        sampler/pace)      ;;
        sampler/kernel)    echo symbolize instrument unwind sampler/pace sampler/bpf ;;
        sampler/proc)      echo symbolize instrument unwind sampler/pace sampler/kernel ;;
        sampler/switches)  echo symbolize instrument unwind sampler/pace sampler/bpf sampler/kernel sampler/proc ;;
        sampler/probes)    echo symbolize instrument sampler/bpf sampler/kernel sampler/proc ;;
        sampler/rights)    echo symbolize instrument unwind sampler/pace sampler/kernel sampler/proc ;;
        sampler/events)    echo symbolize instrument unwind sampler/pace sampler/kernel sampler/proc sampler/rights ;;
        sampler/tracks)    echo symbolize instrument unwind sampler/pace sampler/kernel ;;
        sampler/python)    echo symbolize instrument unwind sampler/pace sampler/bpf sampler/kernel sampler/proc \
                                sampler/switches sampler/tracks ;;
        sampler/keep)      echo symbolize instrument unwind sampler/pace sampler/kernel sampler/proc sampler/rights \
                                sampler/events sampler/tracks ;;
        sampler/tables)    echo symbolize instrument unwind sampler/pace sampler/kernel sampler/tracks sampler/keep ;;
        sampler/jit)       echo symbolize instrument unwind sampler/pace sampler/kernel sampler/proc sampler/tracks \
                                sampler/keep sampler/tables ;;
        sampler/images)    echo symbolize instrument unwind sampler/pace sampler/kernel sampler/proc sampler/events \
                                sampler/tracks sampler/python sampler/keep sampler/tables sampler/jit ;;
        sampler/stacks)    echo symbolize instrument unwind sampler/pace sampler/kernel sampler/tracks sampler/keep \
                                sampler/tables ;;
        sampler/zones)     echo symbolize instrument unwind sampler/pace sampler/kernel sampler/proc sampler/rights \
                                sampler/events sampler/tracks sampler/keep sampler/tables sampler/stacks ;;
        sampler/merge)     echo symbolize instrument unwind sampler/pace sampler/kernel sampler/proc sampler/switches \
                                sampler/probes sampler/rights sampler/events sampler/tracks sampler/python sampler/keep \
                                sampler/tables sampler/jit sampler/images sampler/stacks sampler/zones ;;
        sampler/relay)     echo sampler/pace ;;
        sampler/recording) echo symbolize instrument unwind sampler/pace sampler/bpf sampler/kernel sampler/proc sampler/switches \
                                sampler/probes sampler/rights sampler/events sampler/tracks sampler/python sampler/keep \
                                sampler/tables sampler/images sampler/stacks sampler/zones sampler/merge ;;

        analyze/clocks)    ;;
        analyze/trace)     echo symbolize analyze/clocks ;;
        analyze/walk)      echo symbolize analyze/clocks analyze/trace ;;
        analyze/waits)     echo symbolize analyze/clocks analyze/trace analyze/walk ;;
        analyze/samples)   echo symbolize analyze/clocks analyze/trace analyze/walk ;;
        analyze/zones)     echo symbolize analyze/clocks analyze/trace analyze/walk analyze/waits analyze/samples ;;
        analyze/stats)     echo symbolize analyze/clocks analyze/trace analyze/walk analyze/waits analyze/samples ;;
        analyze/devices)   echo symbolize analyze/clocks analyze/trace analyze/walk ;;
        analyze/live)      echo symbolize analyze/clocks analyze/trace analyze/walk analyze/waits analyze/samples analyze/stats ;;
        analyze/report)    echo symbolize analyze/clocks analyze/trace analyze/walk analyze/waits analyze/samples analyze/zones analyze/stats analyze/path ;;
        analyze/path)      echo symbolize analyze/clocks analyze/trace analyze/walk analyze/waits analyze/samples analyze/stats analyze/devices ;;
        analyze/cores)     echo symbolize analyze/clocks analyze/trace analyze/walk analyze/waits analyze/samples analyze/stats analyze/path ;;
        analyze/why)       echo symbolize analyze/clocks analyze/trace analyze/walk analyze/waits analyze/samples analyze/stats analyze/devices analyze/path \
                                analyze/zones/zone_ranks.h ;;
        analyze/diff)      echo symbolize analyze/clocks analyze/trace analyze/walk analyze/samples analyze/stats analyze/devices ;;
        analyze/annotate)  echo symbolize analyze/clocks analyze/trace analyze/walk analyze/samples analyze/report ;;

        timeline)          echo symbolize analyze ;;
        merge)             echo analyze/clocks analyze/trace/meta_value.h ;;
        import/file)       ;;
        import/rows)       echo analyze/clocks analyze/trace/meta_value.h ;;
        import/formats)    echo import ;;
        import/perf)       echo import/file import/rows unwind symbolize/elf/elf_image.h sampler/tracks/address_space.h ;;
        import/otlp)       echo import/file import/rows import/perfetto/pftrace_packets.h ;;
        import/*)          echo import/file import/rows ;;

        view/text)         ;;
        view/document)     echo view/text ;;
        view/shared)       echo symbolize analyze view/text view/document ;;
        view/report)       echo symbolize analyze view/text view/document view/shared view/waits ;;
        view/path)         echo symbolize analyze view/text view/document view/shared ;;
        view/why)          echo symbolize analyze view/text view/document view/shared view/waits ;;
        view/*)            echo symbolize analyze view/text view/document view/shared ;;

        export/shared)     echo symbolize analyze view/document/csv_writer.h view/text/utf8.h ;;
        export/*)          echo symbolize analyze view/document/csv_writer.h view/text/utf8.h export/shared ;;

        web/follow)        echo symbolize analyze view timeline ;;
        web/request)       echo view ;;
        web/model)         echo symbolize analyze view timeline web/follow web/request ;;
        web/server)        echo symbolize analyze view timeline web/follow web/request web/model ;;
        web/file)          echo symbolize analyze view timeline web/request web/model web/server ;;

        cli/terminal)      echo view/text import/formats/import_formats.h cli/exit_status.h ;;
        cli/options)       echo symbolize unwind instrument sampler analyze view cli/terminal cli/exit_status.h ;;
        cli/files)         echo symbolize instrument sampler analyze timeline view web cli/terminal cli/options cli/exit_status.h ;;
        cli/views)         echo symbolize analyze view cli/terminal cli/options cli/files cli/exit_status.h ;;
        cli/top)           echo symbolize analyze view cli/terminal cli/options cli/files cli/exit_status.h ;;
        cli/manual)        echo sampler view/text view/document cli/terminal cli/options cli/files cli/exit_status.h ;;
        cli/viewer)        echo symbolize sampler analyze timeline view web cli/terminal cli/options cli/files cli/views cli/manual \
                                cli/exit_status.h ;;
        cli/record)        echo symbolize unwind instrument sampler analyze view web cli/terminal cli/options cli/files cli/manual \
                                cli/viewer cli/exit_status.h ;;
        cli/on_host)       echo sampler view/text cli/terminal cli/options cli/files cli/manual cli/exit_status.h ;;
        cli/commands)      echo symbolize unwind instrument sampler analyze timeline merge import view web export cli/terminal \
                                cli/options cli/files cli/views cli/top cli/manual cli/viewer cli/record cli/on_host cli/exit_status.h ;;
        cli)               echo instrument view/text view/document cli/terminal cli/options cli/manual cli/on_host cli/commands ;;
        *)                 echo "no such folder: $1" >&2 ;;
        esac
}

tab=$(printf '\t')
sources=$(find base format symbolize unwind instrument sampler analyze timeline merge import view export web cli -name '*.[ch]' | sort)

# The folder of each path in the table above.
# shellcheck disable=SC2016 # awk expands them
folder_of='function folder_of(path, part, n) {
        n = split(path, part, "/")
        if (n == 1) return "no folder"
        if (part[1] == "instrument" && n > 2 && (part[2] == "client" || part[2] == "compat")) return "instrument/" part[2]
        if (n == 2) return part[1]
        return substr(path, 1, length(path) - length(part[n]) - 1)
}'

# Lines "FOLDER, a tab, all that it may include between spaces".
table=$(printf '%s\n' "$sources" | awk "$folder_of"'{ print folder_of($0) }' | sort -u | while read -r from; do
        case $from in
        base | instrument/client | instrument/compat) may=$from ;;
        *) may="base format $from" ;;
        esac
        printf '%s\n' "$from$tab $may $(allowed "$from" | tr '\n' ' ') "
done)

bad=0
# shellcheck disable=SC2016 # the fields are awk's
printf '%s\n' "$sources" | LC_ALL=C xargs -r -d '\n' awk -v table="$table" "$folder_of"'
BEGIN {
        n = split(table, row, "\n")
        for (i = 1; i <= n; i++) {
                split(row[i], cell, "\t")
                may[cell[1]] = cell[2]
        }
}
function complain(words) {
        print FILENAME ": " words
        bad = 1
}
# Public headers include each other by relative paths, so that they work from wherever they lie.
function is_beside(name, path, exists, line) {
        if (FILENAME !~ /^instrument\/client\/include\//) return 0
        path = FILENAME
        sub(/[^\/]*$/, name, path)
        exists = (getline line < path) >= 0
        close(path)
        return exists
}
function judge(name, to, top, is_allowed) {
        to = folder_of(name)
        top = to
        sub(/\/.*/, "", top)
        is_allowed = index(may[from], " " to " ") || index(may[from], " " top " ") || index(may[from], " " name " ")
        # The inside of the client is for the client alone.
        if (to == "instrument/client" && from != to) is_allowed = 0
        if (!is_allowed) complain("must not include \"" name "\" (from " from ")")
}
FNR == 1 { from = folder_of(FILENAME) }
/^[ \t]*#[ \t]*include[ \t]*"[^"]+"/ {
        split($0, quoted, "\"")
        if (!is_beside(quoted[2])) judge(quoted[2])
}
# The public header in <> is for programs, for the client that implements it and for what is built on it.
/^[ \t]*#[ \t]*include[ \t]*<hyprof\// {
        if (from != "instrument/client" && from != "instrument/compat") complain("only the client itself may include its public header")
}
END { exit bad }' >&2 || bad=1

# A folder holds what one person can learn in an hour.
find symbolize sampler analyze view export web cli -mindepth 2 -name '*.[ch]' -printf '%h\n' | sort | uniq -c |
        awk '$1 > 40 { print $2 ": " $1 " files; a folder has at most 40"; bad = 1 } END { exit bad }' >&2 || bad=1
exit $bad
