#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Scripts of Lua that call Tracy's functions have their zones, texts and messages in the trace; hostile ones do no harm
set -eu
. tests/tap.sh
plan 16
need c++
include=
for folder in /usr/include/lua5.4 /usr/include/lua5.3 /usr/local/include; do
        [ -n "$include" ] || [ ! -e "$folder/lua.hpp" ] || include=$folder
done
[ -n "$include" ] || skip_all "liblua5.4-dev is not installed"
library=lua${include#*/lua}
[ "$library" != lua/usr/local/include ] || library=lua
need_sampling
sanitize=()
case $VARIANT in
asan) sanitize=(-fsanitize=address -fsanitize=undefined) ;;
tsan) sanitize=(-fsanitize=thread) ;;
esac

host_is_built() { # name, flags...
        c++ -std=c++11 -O1 -Wall -Wextra -Werror "${sanitize[@]}" "${@:2}" -isystem "$include" -Iinstrument/client/include/hyprof/compat \
                tests/workloads/lua_host.cpp "$BUILD/libhyprof.a" "-l$library" -pthread -o "$TMPDIR/$1"
}

# The zones of a script as "name count", sorted.
zones_of() { # name of the trace
        "$HYPROF" report "$TMPDIR/$1.hyp" --zones --limit 0 --json | jq -r '.zones.rows[] | "\(.name) \(.count)"' | LC_ALL=C sort
}

runs() { # name of the trace, host, script, arguments...
        cat >"$TMPDIR/script.lua"
        record "$1" "$TMPDIR/$2" "$TMPDIR/script.lua" "${@:3}" || { cat "$TMPDIR/$1.err" && return 1; }
        read_trace "$1"
}

words_of() { # name of the trace, kind of event
        awk -f tests/trace_words.awk -v pattern=. "$TMPDIR/$1.dump" "$TMPDIR/$1.dump" | grep "^$2" || true
}

holds "a program with Lua compiles" host_is_built host -DTRACY_ENABLE
holds "with call stacks for all zones" host_is_built host_stacks -DTRACY_ENABLE -DTRACY_CALLSTACK=8
holds "without TRACY_ENABLE" host_is_built host_disabled

cat >"$TMPDIR/plain.lua" <<'END'
local function work(n)
        tracy.ZoneBegin()
        tracy.ZoneText("n is " .. n)
        tracy.ZoneEnd()
end
for i = 1, 100 do
        tracy.ZoneBeginN("outer")
        work(i % 2)
        native(function()
                tracy.ZoneBeginNS("inside", 3)
                tracy.ZoneName("renamed")
                tracy.ZoneEnd()
        end)
        tracy.ZoneEnd()
end
local co = coroutine.wrap(function() tracy.ZoneBeginN("coroutine") coroutine.yield() tracy.ZoneEnd() end)
co() co()
local id = tracy.SectionEnter("a section", 3)
tracy.Message("a message")
tracy.Message(12)
tracy.SectionLeave(id)
END
holds "a script runs" runs plain host <"$TMPDIR/plain.lua"
holds "its zones, and those of C++ around them" same "after 1
coroutine 1
inside 100
native 100
outer 100
work 100" "$(zones_of plain)"
holds "its texts" same "50 zone_text 0 n is 0
50 zone_text 0 n is 1" "$(words_of plain 'zone_text 0 n' | sort | uniq -c | sed 's/^ *//')"
holds "the functions of Lua that called, where a call stack was asked for" same 100 \
        "$(words_of plain 'zone_text 0 Lua: .*script.lua:9' | wc -l)"
holds "its names, messages and sections" same "frame_begin a section
message 2 000000 a message
message 2 000000 12
frame_end a section" "$(words_of plain '\(message\|frame\)')"
holds "the file and line of a zone" same "script.lua 7" "$("$HYPROF" dump "$TMPDIR/plain.hyp" | awk '
        $1 == "string" { match($0, /id=[0-9]+/); id = substr($0, RSTART + 3, RLENGTH - 3); sub(/^[^"]*"/, ""); sub(/"$/, ""); text[id] = $0 }
        $1 == "location" { for (i = 2; i <= NF; i++) { split($i, part, "="); value[part[1]] = part[2] }
                if (text[value["name"]] == "outer") print text[value["file"]], value["line"] }')"
holds "nothing is lost but the category of the section" same "NO_EVENTS 1" "$(lost_events plain)"

holds "a hook makes each function a zone" runs hook host hook <<'END'
local function leaf() end
local function inner() for i = 1, 10 do leaf() end end
local function tail() return inner() end
for i = 1, 10 do inner() end
tail()
END
holds "with all its calls" same "inner 10
leaf 110
tail 1" "$(zones_of hook | grep -E '^(inner|leaf|tail) ')"

# Ends without begins, errors between the two, no strings, absurd depths, 10,000 begins, and numbers that are no sections.
# Without call stacks, whose volume a busy machine would drop in part.
holds "a hostile script runs to its end" runs hostile host <<'END'
for i = 1, 100 do tracy.ZoneEnd() end
for i = 1, 20000 do
        native(function() tracy.ZoneBeginN("left open") error("no end") end)
end
tracy.ZoneBeginN(nil) tracy.ZoneText({}) tracy.ZoneName() tracy.Message(nil) tracy.ZoneEnd()
tracy.ZoneBeginN(("x"):rep(1000000)) tracy.ZoneText(("y"):rep(1000000)) tracy.ZoneEnd()
for _, depth in ipairs({ -1, 0, 1 << 40, "deep", math.mininteger }) do tracy.ZoneBeginS(depth) tracy.ZoneEnd() end
tracy.SectionLeave(1 << 40) tracy.SectionLeave(-1) tracy.SectionLeave("x") tracy.SectionEnter(nil)
pcall(tracy.ZoneBegin) pcall(tracy.ZoneEnd)
load("tracy.ZoneBeginN('made\\nof two lines')\ntracy.ZoneEnd()", "line one\nline two")()
tracy.ZoneBeginN("whole")
tracy.ZoneEnd()
for i = 1, 10000 do tracy.ZoneBeginN("deep") end
END
holds "what it left open ends with what was around it, and others are whole" same "after 1
left open 20000
native 20000
whole 1" "$(zones_of hostile | grep -E '^(after|left open|native|whole) ')"
holds "the recording says what the script did" same "tracy.ZoneBegin: more than 2048 zones of Lua are open (script.lua:13): ignored, as all further ones of this thread
tracy.ZoneBeginN: the text is not a string (script.lua:5): ignored, as all further ones of this thread
tracy.ZoneEnd: no zone of Lua is open (script.lua:1): ignored, as all further ones of this thread" \
        "$("$HYPROF" csv -m "$TMPDIR/hostile.hyp" | grep -o '^"tracy[^"]*' | tr -d '"' | sort)"

disabled_leaves_no_call() {
        printf '%s\n' 'local a = tracy.SectionEnter("x)", 3) assert(a == 0)' 'tracy.ZoneText("a) b" .. ("c"):rep(2) .. [[ ) ]])' \
                "tracy.ZoneBegin() tracy.ZoneEnd() tracy.Message('\\')') other = 5" 'assert(other == 5 and tracy.Unknown == nil)' \
                'tracy = nil' 'tracy.ZoneBeginN("x" .. [=[ ]] ) ]=])' '-- tracy.ZoneName((' >"$TMPDIR/removed.lua"
        "$TMPDIR/host_disabled" "$TMPDIR/removed.lua"
}
holds "without TRACY_ENABLE no call is left in a script" disabled_leaves_no_call
