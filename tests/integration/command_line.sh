#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One table of options is the help, the manuals and the completions; words that are nearly right are guessed; statuses hold
set -eu
. tests/tap.sh
plan 336
need python3 jq

manuals=${HYPROF%/*}/man
commands=$("$HYPROF" __complete "" | cut -f 1)
# The aliases, and what each stands for: "csv = export csv, ..."
alias_words=$("$HYPROF" --help | sed -n '/^aliases: /,/^$/p' | tr '\n' ' ' | sed 's/^aliases: //; s/  */ /g; s/ $//')
aliases=$(tr ',' '\n' <<<"$alias_words" | sed 's/^ *//; s/ = .*//')
options_of() { "$HYPROF" __complete "$1" -- | cut -f 1; } # command
offered() { "$HYPROF" __complete "$@" | cut -f 1 | tr '\n' ' ' | sed 's/ $//'; } # words
says() { # words, command...: in its complaint
        "${@:2}" >"$TMPDIR/out" 2>"$TMPDIR/err" || true
        grep -qF -- "$1" "$TMPDIR/err" || { cat "$TMPDIR/err" && return 1; }
}
without_overstrike() { MANWIDTH=200 MAN_KEEP_FORMATTING='' man -l "$1" 2>&1 | col -bx; }

# ---- every option is everywhere
holds "there are commands" compare "$(wc -w <<<"$commands")" ">=" 12
lists_each() { # command, file
        local option
        for option in $(options_of "$1"); do
                grep -qE -- "(^|[ ,])$option([ =[]|\$)" "$2" || { echo "$option is not there" && return 1; }
        done
}
holds "there are aliases" same "csv extract guide html query" "$(tr '\n' ' ' <<<"$aliases" | sed 's/ $//')"
lists_all_but_rare() { # command, its help: which says how many it leaves out
        local option n=0 said
        for option in $(options_of "$1"); do
                grep -qE -- "(^|[ ,])$option([ =[]|\$)" "$2" || n=$((n + 1))
        done
        said=$(sed -nE 's/^([0-9]+) rare options are in the manual: hyprof help '"$1"'$/\1/p' "$2")
        [ "$n" = "${said:-0}" ] || { echo "$n options are not there, and it says ${said:-none}" && return 1; }
}
for command in $commands $aliases; do
        holds "$command: has options" compare "$(options_of "$command" | wc -l)" ">=" 1
        "$HYPROF" "$command" --help >"$TMPDIR/help"
        holds "$command --help: lists them" lists_all_but_rare "$command" "$TMPDIR/help"
        holds "$command: a page is built" test -s "$manuals/hyprof-$command.1"
        [ "$command" != guide ] || continue # its topic is the guide itself
        "$HYPROF" help "$command" >"$TMPDIR/page"
        holds "help $command: lists them" lists_each "$command" "$TMPDIR/page"
        holds "help $command: is a manual" test "$(grep -cE '^(NAME|SYNOPSIS|DESCRIPTION|OPTIONS|EXIT STATUS|SEE ALSO)$' "$TMPDIR/page")" -eq 6
done
for command in $commands; do
        holds "hyprof --help: lists $command" grep -q "^  $command  *[a-z]" <("$HYPROF" --help)
done
for name in $aliases; do
        holds "hyprof --help lists $name once, among the aliases" same 0 "$("$HYPROF" --help | grep -cE "^  $name |(^|[ ,])$name = .*[ ,]$name = ")"
        form=$(tr ',' '\n' <<<"$alias_words" | sed -n "s/^ *$name = //p")
        "$HYPROF" help "${form%% *}" >"$TMPDIR/page"
        # shellcheck disable=SC2086 # two words
        "$HYPROF" $form --help >"$TMPDIR/form"
        "$HYPROF" "$name" --help >"$TMPDIR/help"
        [ "$name" = guide ] || holds "help ${form%% *}: names its page" grep -q "hyprof-$name(1)" "$TMPDIR/page"
        holds "$form --help: its usage" grep -q "^usage: hyprof $form " "$TMPDIR/form"
        holds "$name --help: its own" grep -q "^usage: hyprof $name " "$TMPDIR/help"
        holds "$form and $name: the same words above the options" cmp <(sed -n '3,5p' "$TMPDIR/form") <(sed -n '3,5p' "$TMPDIR/help")
done
holds "record --help: ten options come first" same "output freq event off-cpu pid all duration view quiet help" \
        "$("$HYPROF" record --help | sed -n '/^Used most:/,/^$/s/^  \(-., \)\?--\([a-z-]*\).*/\2/p' | tr '\n' ' ' | sed 's/ $//')"
holds "completed first as well" same "--output --freq" "$(options_of record | head -n 2 | tr '\n' ' ' | sed 's/ $//')"
holds "and seven groups follow, also in the manual" same 7 \
        "$("$HYPROF" record --help | grep -E '^[A-Z][a-z ,]+:$' | sed 1d | tr -d : | while read -r title; do grep -x "       $title" <("$HYPROF" help record); done | wc -l)"
holds "report --help: no aliases of options" same 0 "$("$HYPROF" report --help | grep -cE -- '--(tid|time|input|csv-safe)\b')"
holds "nor among completions" same "" "$(options_of report | grep -xE -- '--(tid|time|input|csv-safe)' || true)"
holds "help report: each once" same "--csv-safe --input --tid --time" "$("$HYPROF" help report | sed -n '/Aliases: /,/^$/p' |
        grep -oE -- '--(tid|time|input|csv-safe)\b' | sort | tr '\n' ' ' | sed 's/ $//')"
holds "hyprof: three examples come before the commands" same 3 \
        "$("$HYPROF" --help | sed '/^  record /,$d' | grep -c '^  hyprof ')"
holds "hyprof alone says the same, and status 2" ends_with 2 "$HYPROF"
holds "on standard error" cmp "$TMPDIR/err" <("$HYPROF" --help)
holds "help hyprof: lists the aliases" grep -qF "query = export sqlite" <("$HYPROF" help hyprof | tr -s ' \n' ' ')

# ---- manuals, by both readers
lint_with_man() { same "" "$(man --warnings -l -E UTF-8 "$1" 2>&1 >/dev/null)"; }
lint_with_mandoc() { same "" "$(mandoc -Tlint "$1")"; }
for page in "$manuals"/*.1; do
        name=${page##*/}
        if command -v man >/dev/null; then
                holds "$name: man has no warnings" lint_with_man "$page"
        else
                skips "$name: man has no warnings" "man is not installed"
        fi
        if command -v mandoc >/dev/null; then
                holds "$name: mandoc has none" lint_with_mandoc "$page"
        else
                skips "$name: mandoc has none" "mandoc is not installed"
        fi
done
holds "a command of prose is a command" same "" "$(sed -nE 's/^    hyprof ([a-z]+).*/\1/p' docs/man/*.txt | sort -u | grep -vxF "$commands"$'\n'"$aliases" || true)"
holds "hyprof help hyprof" ends_with 0 "$HYPROF" help hyprof
holds "hyprof help" ends_with 0 "$HYPROF" help
holds "hyprof help nothing: status 2" ends_with 2 "$HYPROF" help nothing
holds "hyprof guide" ends_with 0 "$HYPROF" guide
holds "hyprof help guide is the same" cmp "$TMPDIR/out" <("$HYPROF" help guide)
holds "on one page of 100 columns" awk 'length > 100 { print; exit 1 } END { exit NR < 20 || NR > 80 }' "$TMPDIR/out"

# ---- the version
holds "--version" ends_with 0 "$HYPROF" --version
holds "says which it is" grep -qE '^hyprof [0-9]+\.[0-9]+' "$TMPDIR/out"
holds "says what is built in" grep -qE '^  (yes|no) +bpf ' "$TMPDIR/out"
holds "--version --json" ends_with 0 "$HYPROF" --version --json
holds "is JSON with a schema" same "hyprof.version/2 array string" \
        "$(jq -r '"\(.schema) \(.features.rows | type) \(.trace_format | type)"' "$TMPDIR/out")"
holds "--version of something: status 2" ends_with 2 "$HYPROF" --version --jsno

# ---- what may have been meant
holds "a command" says "did you mean 'record'?" "$HYPROF" recordd
holds "an option" says "did you mean --limit?" "$HYPROF" report --limt=3
holds "an option with =" says "unknown option --jsno; did you mean --json?" "$HYPROF" report --jsno
holds "nothing near: nothing is guessed" ends_with 2 "$HYPROF" report --qqqqqqqqqqq
holds "nor said" same 0 "$(grep -c 'did you mean' "$TMPDIR/err")"
holds "a choice" says "did you mean 'dwarf'?" "$HYPROF" record --unwind=dwrf -- true
holds "the others are listed" grep -q "auto, fp, dwarf" "$TMPDIR/err"
holds "a choice that may be left out" says "did you mean 'callstacks'?" "$HYPROF" record --zones=callstack -- true
holds "an event" says "did you mean 'cpu-clock'?" "$HYPROF" record -e cpu-clok -- true
for words in "record --scope=x -- true" "record --embed x -- true" "annotate --color=x" "annotate -M x" "report --limit=-1" \
        "report -i a b" "modules -i a b" "guide x" "help a b" "doctor x"; do
        # shellcheck disable=SC2086 # words
        holds "hyprof $words: status 2" ends_with 2 "$HYPROF" $words
        holds "it says how to go on" grep -q '^  try: hyprof ' "$TMPDIR/err"
done

# ---- what shells ask
cd "$TMPDIR"
holds "commands" same "record report" "$(offered re)"
holds "options" same "--json" "$(offered report --js)"
holds "choices in the next word" same "always auto" "$(offered annotate --color a | tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/ $//')"
holds "choices after =" same "--unwind=dwarf" "$(offered record --unwind=d)"
holds "after a letter" same "att" "$(offered annotate -M a)"
holds "a choice beside a number" same "all" "$(offered annotate --context '')"
holds "a choice that may be left out, after = only" same "--zones=callstacks" "$(offered record --zones=c)"
holds "else the next word is the program" same ":program" "$(offered record --zones '')"
holds "events" grep -qw cpu-clock <<<"$(offered record -e cpu-)"
holds "the last of a list" grep -qw 'task-clock,cpu-clock' <<<"$(offered record -e task-clock,cpu-)"
holds "in a group, after =" grep -qF -- '--event={task-clock,cpu-clock' <<<"$(offered record '--event={task-clock,cpu-')"
holds "files" same ":file" "$(offered record -o '')"
holds "folders" same ":folder" "$(offered modules --debug-dir '')"
holds "traces" same ":trace" "$(offered report '')"
holds "another program's words" same ":rest 3" "$(offered record -q ./prog --x | cat)"
holds "formats, and then a trace" same "folded :trace" "$(offered export fold) $(offered export folded '')"
holds "all that export has" same "$("$HYPROF" export --list | cut -d ' ' -f 1 | sort)" "$(offered export '' | tr ' ' '\n' | sort)"
holds "a format that is nearly right" says "did you mean 'firefox'?" "$HYPROF" export firefx
holds "help's topics" same "guide" "$(offered help gu)"
holds "no alias among the commands" same "record report" "$(offered re)$(offered csv)$(offered gui)$(offered quer)"
holds "options of a format" same "--unwrap" "$(offered export csv --un)"
holds "after other options" same "--redact" "$(offered export -q html --re)"
holds "of modules --extract" same ":file" "$(offered modules --extract -o '')"
holds "and its operands" same ":trace" "$(offered modules --extract '' | head -n 1 | cut -d ' ' -f 1)"
holds "nothing for what is no command" same "" "$(offered nothing --)"
cd - >/dev/null

# ---- names of a trace
if "$HYPROF" record -q -o "$TMPDIR/hyprof.hyp" -- "$WORKLOADS/w_two_zones" 1 2>/dev/null; then
        holds "functions, of the trace that is named" grep -qw main <<<"$(offered annotate -i "$TMPDIR/hyprof.hyp" main)"
        holds "or is an operand" grep -qw main <<<"$(offered annotate "$TMPDIR/hyprof.hyp" main)"
        holds "or is the default" grep -qw main <<<"$(cd "$TMPDIR" && offered annotate main)"
        holds "modules, by the file's name" same w_two_zones "$(offered annotate -i "$TMPDIR/hyprof.hyp" --module w_two)"
        holds "zones" same "a b" "$(offered report -i "$TMPDIR/hyprof.hyp" --zone '' | tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/ $//')"
        holds "its events" compare "$(offered report -i "$TMPDIR/hyprof.hyp" -e '' | wc -w)" ">=" 1
        printf 'no trace' >"$TMPDIR/none"
        holds "of no trace there are none" same "" "$(offered annotate -i "$TMPDIR/none" main)"
fi

# ---- the shells.  Their completions are run, by a program that writes its words down.
mkdir "$TMPDIR/bin"
cat >"$TMPDIR/bin/hyprof" <<EOS
#!/bin/sh
[ "\$1" != __complete ] || exec "$PWD/${HYPROF#"$PWD"/}" "\$@"
printf '%s' "\$*" >>"\$WORDS"
EOS
chmod +x "$TMPDIR/bin/hyprof"
case $HYPROF in /*) sed -i "s|exec .*\" \"|exec \"$HYPROF\" \"|" "$TMPDIR/bin/hyprof" ;; esac
: >"$TMPDIR/file name.txt"
: >"$TMPDIR/one.hyp"
: >"$TMPDIR/two.txt"
mkdir "$TMPDIR/completions"
cp cli/completions/* "$TMPDIR/completions"
# shellcheck disable=SC2016 # Python
terminal='import pty, sys
pty.spawn(sys.argv[1:])'
# shellcheck disable=SC2034 # by their names
begin_bash='PS1=; . completions/hyprof.bash'
# shellcheck disable=SC2016,SC2034 # zsh's
begin_zsh='PS1=; fpath=($PWD/completions $fpath); autoload -Uz compinit; compinit -u -D'
# Runs a shell, which takes seconds to start, and types all lines into it: the words that each of them became, a line each, in
# the array `typed`.
type_into() { # shell, keys of a line...
        local begin=begin_$1 shell=("$1" --norc --noprofile -i)
        [ "$1" != zsh ] || shell=(zsh -f -i)
        : >"$TMPDIR/words"
        (
                cd "$TMPDIR"
                # shellcheck disable=SC2030
                export PATH="$TMPDIR/bin:$PATH" WORDS="$TMPDIR/words" TERM=vt100 HISTFILE=/dev/null
                # shellcheck disable=SC2016 # the shell that is typed into expands it
                { printf '%s\n' "${!begin}" && printf '%b\necho >>"$WORDS"\n' "${@:2}" && echo exit; } |
                        timeout 60 python3 -c "$terminal" "${shell[@]}"
        ) >"$TMPDIR/screen" 2>&1 || true
        mapfile -t typed <"$TMPDIR/words"
}
case_failed() { cat -v "$TMPDIR/screen" 2>/dev/null || true; }
for shell in bash zsh; do
        if ! command -v "$shell" >/dev/null; then
                skips_group "$shell" "not installed"
                continue
        fi
        type_into $shell 'hyprof sym\t' 'hyprof report --off\t' 'hyprof annotate --color ne\t' 'hyprof annotate --color=ne\t' \
                'hyprof record -e task-clock,cpu-clo\t' 'hyprof report o\t' 'hyprof extract -o file\t' 'hyprof extract --output=tw\t' \
                'hyprof record -- ls tw\t'
        holds "$shell: a command" same "symbolize" "${typed[0]-}"
        holds "$shell: an option" same "report --off-cpu" "${typed[1]-}"
        holds "$shell: a choice" same "annotate --color never" "${typed[2]-}"
        holds "$shell: a choice after =" same "annotate --color=never" "${typed[3]-}"
        holds "$shell: an event" same "record -e task-clock,cpu-clock" "${typed[4]-}"
        holds "$shell: a trace" same "report one.hyp" "${typed[5]-}"
        holds "$shell: a file whose name has a blank" same "extract -o file name.txt" "${typed[6]-}"
        holds "$shell: a file after =" same "extract --output=two.txt" "${typed[7]-}"
        holds "$shell: another program's file" same "record -- ls two.txt" "${typed[8]-}"
done
unset -f case_failed
if command -v fish >/dev/null; then
        in_fish() {
                # shellcheck disable=SC2031
                (cd "$TMPDIR" && PATH="$TMPDIR/bin:$PATH" HOME=$TMPDIR fish --no-config -c \
                        "source completions/hyprof.fish; complete -C '$1'" | cut -f 1 | tr '\n' ' ' | sed 's/ $//')
        }
        holds "fish: a command" same "symbolize" "$(in_fish 'hyprof sym')"
        holds "fish: an option" same "--off-cpu" "$(in_fish 'hyprof report --off')"
        holds "fish: a choice after =" same "--color=never" "$(in_fish 'hyprof annotate --color=ne')"
        holds "fish: a file" same "two.txt" "$(in_fish 'hyprof extract -o tw')"
else
        skips_group "fish" "not installed"
fi

# ---- the terminal
if command -v script >/dev/null; then
        on_screen() { # columns, command line
                script -qec "stty cols $1; $2" /dev/null </dev/null | tr -d '\r' >"$TMPDIR/screen"
        }
        on_screen 70 "'$HYPROF' record --help"
        # The text above and below the options is as it was written.
        holds "help is as wide as the terminal" same 0 \
                "$(sed -n '/--output/,/--help/p' "$TMPDIR/screen" | awk 'length > 70' | wc -l)"
        on_screen 80 "PAGER='cat >\"$TMPDIR/paged\"' '$HYPROF' guide --pager"
        holds "--pager: the pager gets it" grep -q '^RECORD' "$TMPDIR/paged"
        holds "and no other program" same "" "$(cat "$TMPDIR/screen")"
        on_screen 80 "PAGER=false '$HYPROF' guide --pager; echo status \$?"
        holds "one that has seen enough is no failure" grep -q '^status 0' "$TMPDIR/screen"
        on_screen 80 "PAGER='echo not asked for' '$HYPROF' guide"
        holds "none without --pager" same 0 "$(grep -c '^not asked for' "$TMPDIR/screen")"
        on_screen 80 "'$HYPROF' nothing"
        holds "complaints have no colours" same 0 "$(grep -c $'\033' "$TMPDIR/screen")"
else
        skips_group "a terminal" "script is not installed"
fi
holds "--pager without a terminal does nothing" same "$("$HYPROF" guide)" "$(PAGER=false "$HYPROF" guide --pager)"
holds "COLUMNS is the width elsewhere" same 0 \
        "$(COLUMNS=60 "$HYPROF" help record | sed -n '/^OPTIONS/,/^EXIT/p' | awk 'length > 60' | wc -l)"
holds "nonsense in it is ignored" same "$("$HYPROF" guide)" "$(COLUMNS=0 "$HYPROF" guide)"
