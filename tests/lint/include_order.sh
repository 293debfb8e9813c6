#!/bin/sh
# SPDX-License-Identifier: MIT
# The folders form a one-way street; this is its only definition.  Usage: include_order.sh [root]
set -eu
cd "${1:-.}"

allowed() { # folder -> the folders and single files that it may include
        case $1 in
        base)              echo base ;;
        format)            echo base format ;;
        symbolize)         echo base format symbolize ;;
        instrument/client) echo instrument/client instrument/client_abi.h hyprof ;;
        instrument/compat) echo instrument/compat ;; # and the public header, like programs
        instrument)        echo base format instrument ;;
        unwind)            echo base symbolize/elf_image.h symbolize/cfi_section.h symbolize/frame_sections.h unwind ;;
        sampler)           echo base format symbolize unwind instrument sampler ;;
        analyze)           echo base format symbolize analyze ;;
        view)              echo base format symbolize analyze view ;;
        export)            echo base format symbolize analyze view/csv_writer.h view/utf8.h export ;;
        cli)               echo base format symbolize unwind instrument sampler analyze view export cli ;;
        esac
}

folder_of() { # path -> its folder in the table above
        case $1 in
        instrument/client/*) echo instrument/client ;;
        instrument/compat/*) echo instrument/compat ;;
        */*)                 echo "${1%%/*}" ;;
        *)                   echo "no folder" ;;
        esac
}

bad=0
for file in $(find base format symbolize unwind instrument sampler analyze view export cli -name '*.[ch]' | sort); do
        from=$(folder_of "$file")
        # shellcheck disable=SC2013 # file names without spaces
        for inc in $(sed -nE 's/^[ \t]*#[ \t]*include[ \t]*"([^"]+)".*/\1/p' "$file"); do
                # Public headers include each other by relative paths, so that they work from wherever they lie.
                case $file in
                instrument/client/include/*) [ ! -f "${file%/*}/$inc" ] || continue ;;
                esac
                to=$(folder_of "$inc")
                case " $(allowed "$from") " in
                *" $to "* | *" $inc "*) ;;
                *)
                        bad=1
                        echo "$file: must not include \"$inc\" ($from -> $to)" >&2
                        ;;
                esac
        done
        # The public header in <> is for programs, for the client that implements it and for what is built on it.
        if [ "$from" != instrument/client ] && [ "$from" != instrument/compat ] &&
                grep -nE '^[ \t]*#[ \t]*include[ \t]*<hyprof/' "$file" >&2; then
                bad=1
                echo "$file: only the client itself may include its public header" >&2
        fi
done
exit $bad
