# SPDX-License-Identifier: MIT
# The events of threads and fibers, from the output of `hyprof dump`: a line an event, in words.
# Usage: awk -v pattern=REGEX -f trace_words.awk DUMP DUMP
#
# Names instead of ids, no times, no lines of the source; samples, switches and names of threads are left out, and so is
# fiber_leave.  A text of more than 100 bytes is told by its length.  REGEX: of names of threads and fibers.
function of(name,    i, n) {
        n = length(name) + 1
        for (i = 2; i <= NF; i++)
                if (substr($i, 1, n) == name "=")
                        return substr($i, n + 1)
        return ""
}
function quoted(name,    t) {
        t = substr($0, index($0, " " name "=\"") + length(name) + 3)
        t = substr(t, 1, length(t) - 1)
        return length(t) > 100 ? "(" length(t) " bytes)" : t
}
function place(id) { return location[id] != "" ? location[id] : location_function[id] }
FNR == NR && $1 == "string"      { text[of("id")] = quoted("text") }
FNR == NR && $1 == "location"    {
        location[of("id")] = text[of("name")]
        location_function[of("id")] = text[of("function")]
        location_color[of("id")] = substr("000000" substr(of("color"), 3), length(of("color")) - 1)
}
FNR == NR && $1 == "lock"        { lock[of("id")] = of("location") }
FNR == NR && $1 == "device"      { device[of("id")] = text[of("name")] }
FNR == NR && $1 == "thread"      { kind[of("id")] = of("kind") }
FNR == NR && $1 == "thread_name" { thread[of("thread")] = text[of("name")] }
FNR == NR { next }
$2 !~ /^thread=/ || $3 !~ /^time_ns=/ { next }
{ name = thread[of("thread")] }
name !~ pattern { next }
$1 == "zone_begin"     { $0 = $1 " " place(of("location")) " " location_color[of("location")] }
$1 == "zone_end"       { $0 = $1 }
$1 == "callstack"      { $0 = $1 (of("stack") > 0 ? "" : " without frames") }
$1 == "zone_text"      { $0 = $1 " " of("level") " " quoted("text") }
$1 == "zone_name"      { $0 = $1 " " of("level") " " quoted("name") }
$1 == "zone_value"     { $0 = $1 " " of("level") " " of("value") }
$1 == "zone_color"     { $0 = $1 " " of("level") " " sprintf("%06x", of("color")) }
$1 == "message_text"   { $0 = "message " of("severity") " " sprintf("%06x", of("color")) " " quoted("text") }
$1 ~ /^frame_/         { $0 = $1 " " text[of("name")] }
$1 == "plot_i64"       { $0 = $1 " " text[of("name")] " " of("value") }
$1 == "plot_f64"       { $0 = $1 " " text[of("name")] " " of("bits") }
$1 == "memory_alloc"   { $0 = $1 " " text[of("pool")] " " of("size_bytes") }
$1 == "memory_free"    { $0 = $1 " " text[of("pool")] }
$1 == "memory_discard" { $0 = $1 " " text[of("pool")] }
$1 == "lock_mark"      { $0 = $1 " " place(lock[of("lock")]) " " place(of("location")) }
$1 == "lock_name"      { $0 = $1 " " place(lock[of("lock")]) " " text[of("name")] }
$1 ~ /^lock_(wait|obtain|release|gone)$/ { $0 = $1 " " place(lock[of("lock")]) (of("shared") == 1 ? " shared" : "") }
$1 == "thread_group"   { $0 = $1 " " of("group") }
$1 == "fiber_enter"    { $0 = $1 " " thread[of("fiber")] }
$1 == "device_zone_begin" { $0 = $1 " " device[of("device")] " " of("query") " " place(of("location")) }
$1 == "device_zone_end"   { $0 = $1 " " device[of("device")] " " of("query") }
$1 == "device_time"       { $0 = $1 " " device[of("device")] " " of("query") " " of("ticks") }
$1 ~ /^(sample|switch_in|switch_out|thread_name|thread_exit|fiber_leave)$/ { next }
{ sub(/ *$/, ""); print }
