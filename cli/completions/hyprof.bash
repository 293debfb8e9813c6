# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Completion of hyprof in bash; hyprof itself knows the words: see cli/manual/completion.c

# Sets `words`, up to the cursor: what bash cuts at = and : is one word.
_hyprof_words() {
        local line=${COMP_LINE:0:COMP_POINT} part i
        words=()
        for ((i = 0; i <= COMP_CWORD; i++)); do
                part=${COMP_WORDS[i]}
                if ((i == 0)) || [[ $line == [[:blank:]]* ]]; then
                        line=${line#"${line%%[![:blank:]]*}"}
                        words+=('')
                fi
                ((${#part} <= ${#line})) || part=$line
                line=${line#"$part"}
                words[${#words[@]} - 1]+=$part
        done
}

_hyprof_foreign() { # place of another program's name
        if declare -F _command_offset >/dev/null; then
                _command_offset "$1"
        else
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        fi
}

_hyprof() {
        local words cur cut='' line word path
        _hyprof_words
        cur=${words[${#words[@]} - 1]}
        [[ $cur != *[=:]* ]] || cut=${cur%"${cur##*[=:]}"}
        path=${cur#--*=}
        COMPREPLY=()
        while IFS= read -r line; do
                case $line in
                :file)    compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$path") ;;
                :folder)  compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$path") ;;
                :trace)   compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X '!*.hyp' -- "$path"; compgen -d -- "$path") ;;
                :program) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$path") ;;
                ':rest '*) _hyprof_foreign "${line#:rest }"; return ;;
                *)
                        word=${line%%$'\t'*}
                        word=${word#"$cut"}
                        [[ $word =~ ^[][A-Za-z0-9_./:=@%+,{}-]*$ ]] || printf -v word %q "$word"
                        COMPREPLY+=("$word")
                        ;;
                esac
        done < <("${COMP_WORDS[0]}" __complete "${words[@]:1}" 2>/dev/null)
}

complete -F _hyprof hyprof
