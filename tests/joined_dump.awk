# SPDX-License-Identifier: MIT
# Joins what `hyprof dump` prints: a line an event, names instead of ids.  Usage: awk -f joined_dump.awk DUMP DUMP
#
# The same file twice: names of functions come last in a trace.  Columns, separated by tabs:
#
#   1 to 5       kind, time_ns, pid, tid, name of the thread at that time
#   sample       6 event  7 function  8 module  9 zone path, "outer/inner", as recorded  10 zones open by the
#                events so far  11 stack, outermost first: ";main;run"  12 address in the module  13 weight
#                14 file:line of the innermost inlined call
#   zone_begin   6 zone  7 function  8 file:line
#   zone_end     6 zone
#   message      6 severity  7 color  8 text
#   message_text                6 severity  7 color  8 text, as it is in the dump
#   zone_text, zone_name        6 level  7 text
#   plot_i64, plot_f64          6 name  7 value
#   frame_mark                  6 name
#   switch_out   6 wait  7 1 = preempted  8 cpu  9 stack_state  10 who got the CPU: unknown, idle, other, or a tid
#                11 stack, as of a sample
#   wakeup       6 name of the waker  7 its tid  8 cpu  9 stack_state  10 tid of the thread below the interrupt
#                11 stack of the waker, or of the interrupt
#   others                      6 all operands as they are
BEGIN { FS = "[ ]"; OFS = "\t" }

function of(name,    i, n) {
        n = length(name) + 1
        for (i = 2; i <= NF; i++)
                if (substr($i, 1, n) == name "=")
                        return substr($i, n + 1)
        return ""
}

# The last operand, which has quotes around it and may hold anything.
function quoted(name,    from) {
        from = index($0, " " name "=\"") + length(name) + 3
        return substr($0, from, length($0) - from)
}

function take_symbol(frame) {
        if (frame != symbol_frame || !symbol_inlined) {
                functions[frame] = ""
                place[frame] = text[of("file")] ":" of("line")
        }
        symbol_frame = frame
        symbol_inlined = of("flags") ~ /[13579bdf]$/
        if (!symbol_inlined)
                functions[frame] = text[of("function")]
}

function function_of(frame) {
        return functions[frame] != "" ? functions[frame] : "?"
}

function stack_words(stack) {
        if (stack == 0)
                return ""
        if (!(stack in words_of_stack))
                words_of_stack[stack] = stack_words(stack_parent[stack]) ";" function_of(stack_frame[stack])
        return words_of_stack[stack]
}

function path_words(path) {
        if (path == 0)
                return ""
        if (!(path in words_of_path))
                words_of_path[path] = path_words(path_parent[path]) "/" zone[path_location[path]]
        return words_of_path[path]
}

NR == FNR && $1 == "string"       { text[of("id")] = substr($0, index($0, "text=") + 6, length($0) - index($0, "text=") - 6) }
NR == FNR && $1 == "process"      { pid[of("id")] = of("pid") }
NR == FNR && $1 == "thread"       { process[of("id")] = of("process"); tid[of("id")] = of("tid") }
NR == FNR && $1 == "module"       { module[of("id")] = text[of("path")] }
NR == FNR && $1 == "frame"        { frame_module[of("id")] = of("module"); frame_offset[of("id")] = of("offset") }
NR == FNR && $1 == "stack"        { stack_parent[of("id")] = of("parent"); stack_frame[of("id")] = of("frame") }
NR == FNR && $1 == "zone_path"    { path_parent[of("id")] = of("parent"); path_location[of("id")] = of("location") }
NR == FNR && $1 == "sample_event" { event[of("id")] = text[of("name")] }
NR == FNR && $1 == "symbol"       { take_symbol(of("frame")) }
NR == FNR && $1 == "location" {
        id = of("id")
        zone[id] = text[of("name")]
        zone_function[id] = text[of("function")]
        zone_place[id] = text[of("file")] ":" of("line")
}
NR == FNR { next }

$2 !~ /^thread=/ || $3 !~ /^time_ns=/ { next }

{
        thread = substr($2, 8)
        if ($1 == "thread_name")
                name[thread] = text[of("name")]
        start = $1 OFS substr($3, 9) OFS pid[process[thread]] OFS tid[thread] OFS name[thread]
}

$1 == "sample" {
        stack = of("stack")
        frame = stack_frame[stack]
        print start, event[of("event")], function_of(frame), module[frame_module[frame]], path_words(of("path")), \
                open[thread], stack_words(stack), frame_offset[frame], of("weight"), place[frame]
        next
}

$1 == "zone_begin" {
        location = of("location")
        open[thread] = open[thread] "/" zone[location]
        depth[thread]++
        opened[thread, depth[thread]] = location
        print start, zone[location], zone_function[location], zone_place[location]
        next
}

$1 == "zone_end" {
        location = opened[thread, depth[thread]]
        if (depth[thread] > 0)
                depth[thread]--
        open[thread] = substr(open[thread], 1, length(open[thread]) - length(zone[location]) - 1)
        print start, zone[location]
        next
}

$1 == "zones_gone" { # they do not end
        open[thread] = ""
        depth[thread] = 0
        print start
        next
}

$1 == "message"    { print start, of("severity"), of("color"), text[of("text")]; next }
$1 == "message_text" { print start, of("severity"), of("color"), quoted("text"); next }
$1 == "zone_text"  { print start, of("level"), quoted("text"); next }
$1 == "zone_name"  { print start, of("level"), quoted("name"); next }
$1 == "plot_i64"   { print start, text[of("name")], of("value"); next }
$1 == "plot_f64"   { print start, text[of("name")], of("bits"); next }
$1 == "frame_mark" { print start, text[of("name")]; next }
$1 == "switch_out" {
        next_id = of("successor")
        print start, of("wait"), of("preempted"), of("cpu"), of("stack_state"), \
                next_id == 0 ? "unknown" : next_id == 1 ? "idle" : next_id == 2 ? "other" : tid[next_id - 2], \
                stack_words(of("stack"))
        next
}
$1 == "wakeup" {
        print start, text[of("name")], tid[of("waker")], of("cpu"), of("stack_state"), tid[of("below")], \
                stack_words(of("stack"))
        next
}

{
        rest = $0
        sub(/^[^ ]* [^ ]* [^ ]* ?/, "", rest)
        print start, rest
}
