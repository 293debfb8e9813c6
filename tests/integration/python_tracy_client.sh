#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program in Python that imports Tracy's module tracy_client has its zones, plots, frames and memory in the trace
set -u
. tests/tap.sh
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
plan 8
export PYTHONPATH=$BUILD/python:$PWD/python/tracy PYTHONDONTWRITEBYTECODE=1

cat >"$TMPDIR/program.py" <<'END'
import sys
import tracy_client as tracy
from tracy_client import ColorType, PlotFormatType, ScopedFrame, ScopedFrameDecorator, ScopedZone, ScopedZoneDecorator

assert tracy.is_enabled() and int(ColorType.Tomato) == 0xff6347 and len(ColorType.__members__) == 676
tracy.program_name("the program")
tracy.thread_name("python main")
tracy.app_info("some info")

@ScopedZoneDecorator(name="decorated", color=ColorType.Red)
def decorated(n):
    return n if n == 0 else decorated(n - 1)

@ScopedZoneDecorator(class_name="Thing")
def unnamed():
    raise KeyError

@ScopedFrameDecorator("steps")
def step():
    pass

for i in range(100):
    with ScopedZone(name="outer", color=0x123456) as zone:
        assert zone.is_active == (len(sys.argv) > 1), zone.is_active
        zone.text("words")
        zone.text(i)
        zone.name("renamed")
        zone.color(ColorType.Blue)
        with ScopedZone():
            decorated(2)
    try:
        unnamed()
    except KeyError:
        pass
    step()
    tracy.frame_mark()
by_hand = ScopedZone("by hand")
by_hand.enter()
by_hand.exit()
by_hand.exit()
with ScopedZone("inactive", active=False):
    pass
with ScopedFrame("scoped"):
    pass
frame = tracy.frame_mark_start("numbered")
assert tracy.frame_mark_end(frame) and not tracy.frame_mark_end(1 << 20) and not tracy.frame_mark_end(-1)
plot = tracy.plot_config("load", PlotFormatType.Percentage, True, False, ColorType.Green)
assert tracy.plot(plot, 1.5) and tracy.plot(plot, 2) and not tracy.plot(plot + 1000, 1)
pool = tracy.alloc(0x1000, 64, name="pool")
assert tracy.alloc(0x2000, 32, id=pool) == pool and tracy.free(0x1000, pool) and not tracy.free(0x2000, 1 << 20)
held = object()
assert tracy.alloc(held, 16) is None and tracy.free(held)
assert tracy.message("plain") and tracy.message("red", ColorType.Red)
assert tracy.frame_image(b"\\0" * 64, 4, 4) and not tracy.frame_image(b"", 3, 4)
END

recorded() { record client -- "$python" "$TMPDIR/program.py" recorded || { cat "$TMPDIR/client.err" && return 1; }; read_trace client; }
zones() { "$HYPROF" report "$TMPDIR/client.hyp" --zones --limit 0 --json | jq -r '.zones.rows[] | "\(.name) \(.count)"' | LC_ALL=C sort; }
words_of() { awk -f tests/trace_words.awk -v pattern=. "$TMPDIR/client.dump" "$TMPDIR/client.dump" | grep "^$1" | sort | uniq -c | sed 's/^ *//'; }

holds "without a recorder it runs" "$python" "$TMPDIR/program.py"
holds "it is recorded" recorded
holds "its zones: named, by function, of decorators, also when an exception goes through" same "<module> 100
Thing:unnamed 100
by hand 1
decorated 300
outer 100" "$(zones)"
holds "a zone's place is the line that made it" same "$(grep -n 'with ScopedZone():' "$TMPDIR/program.py" | cut -d : -f 1)" \
        "$("$HYPROF" csv -u "$TMPDIR/client.hyp" | awk -F, '$1 == "<module>" { print $3 }' | sort -u)"
holds "texts, names and colours" same "100 zone_color 0 0000ff
100 zone_name 0 renamed
100 zone_text 0 words" "$(words_of 'zone_[tnc]' | grep -v 'zone_text 0 [0-9]')"
holds "frames, plots, messages" same "100 frame_begin steps
100 frame_end steps
100 frame_mark
1 frame_begin numbered
1 frame_begin scoped
1 frame_end numbered
1 frame_end scoped
1 frame_picture
1 message 2 000000 plain
1 message 2 ff0000 red
1 plot_f64 load 1.5
1 plot_i64 load 2" "$(words_of '\(frame\|plot\|message\)' | sort -k1,1nr -k2)"
holds "memory, in pools and in none" same "1 memory_alloc  16
1 memory_alloc pool 32
1 memory_alloc pool 64
1 memory_free
1 memory_free pool" "$(words_of memory)"
holds "nothing is lost" same "" "$(lost_events client)"
