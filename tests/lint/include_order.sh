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
        symbolize/symbols) echo symbolize/elf symbolize/debug symbolize/index ;;
        symbolize/listing) echo symbolize/elf symbolize/symbols ;;

        instrument/client) echo instrument/client_abi.h hyprof ;;
        instrument/compat) ;; # the public header, like programs
        instrument)        ;;
        unwind)            echo symbolize/elf/elf_image.h symbolize/elf/cfi_section.h symbolize/elf/frame_sections.h \
                                symbolize/elf/go_functions.h ;;

        sampler/bpf)       ;;
        sampler/kernel)    echo symbolize instrument unwind sampler/bpf ;;
        sampler/events)    echo symbolize instrument unwind sampler/kernel ;;
        sampler/tracks)    echo symbolize instrument unwind sampler/kernel sampler/events ;;
        sampler/python)    echo symbolize instrument sampler/bpf sampler/kernel sampler/tracks ;;
        sampler/code)      echo symbolize instrument unwind sampler/kernel sampler/events sampler/tracks sampler/python ;;
        sampler/jit)       echo symbolize instrument unwind sampler/kernel sampler/tracks sampler/code ;;
        sampler/stacks)    echo symbolize instrument unwind sampler/kernel sampler/tracks sampler/code ;;
        sampler/zones)     echo symbolize instrument unwind sampler/kernel sampler/events sampler/tracks \
                                sampler/code sampler/stacks ;;
        sampler/merge)     echo symbolize instrument unwind sampler/kernel sampler/events sampler/tracks \
                                sampler/python sampler/code sampler/jit sampler/stacks sampler/zones ;;
        sampler/relay)     ;;
        sampler/recording) echo symbolize instrument unwind sampler/kernel sampler/events sampler/tracks \
                                sampler/python sampler/code sampler/stacks sampler/zones sampler/merge ;;

        analyze/trace)     echo symbolize ;;
        analyze/walk)      echo symbolize analyze/trace ;;
        analyze/stats)     echo symbolize analyze/trace analyze/walk ;;
        analyze/live)      echo symbolize analyze/trace analyze/walk analyze/stats ;;
        analyze/report)    echo symbolize analyze/trace analyze/walk analyze/stats ;;
        analyze/why)       echo symbolize analyze/trace analyze/walk analyze/stats ;;
        analyze/diff)      echo symbolize analyze/trace analyze/walk analyze/stats ;;
        analyze/annotate)  echo symbolize analyze/trace analyze/walk analyze/report ;;

        timeline)          echo symbolize analyze ;;
        merge)             echo analyze/trace/meta_value.h ;;

        view/text)         ;;
        view/document)     echo view/text ;;
        view/answers)      echo symbolize analyze view/text view/document ;;

        export/shared)     echo symbolize analyze view/document/csv_writer.h view/text/utf8.h ;;
        export/*)          echo symbolize analyze view/document/csv_writer.h view/text/utf8.h export/shared ;;

        web)               echo symbolize analyze view timeline ;;

        cli/terminal)      echo view/text cli/exit_status.h ;;
        cli/options)       echo symbolize unwind instrument sampler analyze view cli/terminal cli/exit_status.h ;;
        cli/files)         echo symbolize instrument sampler analyze timeline view web cli/terminal cli/options cli/exit_status.h ;;
        cli/views)         echo symbolize analyze view cli/terminal cli/options cli/files cli/exit_status.h ;;
        cli/top)           echo symbolize analyze view cli/terminal cli/options cli/files cli/exit_status.h ;;
        cli/commands)      echo symbolize unwind instrument sampler analyze timeline merge view web export cli/terminal cli/options cli/files \
                                cli/views cli/top cli/exit_status.h cli/version.h ;;
        cli)               echo instrument view/text view/document cli/terminal cli/options cli/commands ;;
        *)                 echo "no such folder: $1" >&2 ;;
        esac
}

folder_of() { # path -> its folder in the table above
        case $1 in
        instrument/client/* | instrument/compat/*) wing=${1#*/} && echo "instrument/${wing%%/*}" ;;
        */*/*) echo "${1%/*}" ;;
        */*)   echo "${1%%/*}" ;;
        *)     echo "no folder" ;;
        esac
}

bad=0
for file in $(find base format symbolize unwind instrument sampler analyze timeline merge view export web cli -name '*.[ch]' | sort); do
        from=$(folder_of "$file")
        case $from in
        base | instrument/client | instrument/compat) may=$from ;;
        *) may="base format $from" ;;
        esac
        may=" $may $(allowed "$from" | tr '\n' ' ') "
        # shellcheck disable=SC2013 # file names without spaces
        for inc in $(sed -nE 's/^[ \t]*#[ \t]*include[ \t]*"([^"]+)".*/\1/p' "$file"); do
                # Public headers include each other by relative paths, so that they work from wherever they lie.
                case $file in
                instrument/client/include/*) [ ! -f "${file%/*}/$inc" ] || continue ;;
                esac
                to=$(folder_of "$inc")
                case $may in
                *" $to "* | *" ${to%%/*} "* | *" $inc "*)
                        case $to in # the client's inside is the client's alone
                        instrument/client) [ "$from" = "$to" ] || to= ;;
                        esac
                        ;;
                *) to= ;;
                esac
                if [ -z "$to" ]; then
                        bad=1
                        echo "$file: must not include \"$inc\" (from $from)" >&2
                fi
        done
        # The public header in <> is for programs, for the client that implements it and for what is built on it.
        if [ "$from" != instrument/client ] && [ "$from" != instrument/compat ] &&
                grep -nE '^[ \t]*#[ \t]*include[ \t]*<hyprof/' "$file" >&2; then
                bad=1
                echo "$file: only the client itself may include its public header" >&2
        fi
done

# A folder holds what one person can learn in an hour.
for folder in $(find symbolize sampler analyze view export cli -mindepth 1 -type d | sort); do
        n=$(find "$folder" -maxdepth 1 -name '*.[ch]' | wc -l)
        if [ "$n" -gt 60 ]; then
                bad=1
                echo "$folder: $n files; a folder has at most 60" >&2
        fi
done
exit $bad
