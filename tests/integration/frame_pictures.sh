#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pictures of frames: recorded with the frames that they are of, equal ones once, and shown by the viewer, also in one file
set -eu
. tests/tap.sh
plan 26
need jq curl node
need_sampling
. tests/browser/run_node.sh
export no_proxy='*' XDG_STATE_HOME="$TMPDIR/state" XDG_CACHE_HOME="$TMPDIR/cache"
mkdir -p "$XDG_CACHE_HOME"
server='' frame=0
trap '[ -z "$server" ] || kill -INT "$server" 2>/dev/null || true' EXIT

record pictures -- "$WORKLOADS/w_pictures"
read_trace pictures
holds "each is an event" same "13 2 11" "$(grep -c '^frame_picture ' "$TMPDIR/pictures.dump") $(grep -c '^frame_picture .* frames_back=0' "$TMPDIR/pictures.dump") $(grep -c '^frame_picture .* frames_back=2' "$TMPDIR/pictures.dump")"
holds "equal ones are kept once, and each is packed" same "11 72" \
        "$(grep -c '^attachment .*kind=6 ' "$TMPDIR/pictures.dump") $(sed -n 's/^attachment .*size_bytes=\([0-9]*\) .*kind=6 .*/\1/p' "$TMPDIR/pictures.dump" | sort -u)"
holds "one that is refused is counted, nothing is lost" same "NO_PICTURES 1" "$(lost pictures)"
holds "the trace is whole" is_whole pictures
"$HYPROF" export perfetto -o "$TMPDIR/pictures.pftrace" "$TMPDIR/pictures.hyp" >"$TMPDIR/export.out" 2>&1
holds "exports say that they have none" grep -q '13 pictures of frames' "$TMPDIR/export.out"
record none --messages -- "$WORKLOADS/w_pictures"
read_trace none
holds "without frames there are none" same "0 " "$(grep -c '^frame_picture ' "$TMPDIR/none.dump" || true) $(lost none)"

# ---- the viewer
"$HYPROF" view --no-open "$TMPDIR/pictures.hyp" >"$TMPDIR/view.out" 2>"$TMPDIR/view.err" &
server=$!
wait_until "the viewer has an address" grep -q '^http' "$TMPDIR/view.out"
url=$(sed -n '/^http/p' "$TMPDIR/view.out")
index_is_made() { curl -s "${url}model" | jq -e '.progress == 1'; }
wait_until "the index is made" index_is_made
curl -s "${url}model" >"$TMPDIR/model"
holds "the frames have a lane of pictures, for each but the last" same "11" \
        "$(jq '[.tracks[] | select(.kind == "frames") | .lanes[] | select(.kind == "pictures") | .items] | add' "$TMPDIR/model")"
export PICTURES=
mapfile -t ids < <(sed -n 's/^attachment id=\([0-9]*\) .*kind=6 .*/\1/p' "$TMPDIR/pictures.dump")
for id in "${ids[@]}"; do
        frame=$((frame + 1))
        curl -s -o "$TMPDIR/picture.$frame" "${url}picture?id=$id"
        PICTURES="$PICTURES${PICTURES:+ }$frame:$TMPDIR/picture.$frame"
done
status() { curl -s -o "$TMPDIR/body" -w '%{http_code}' "${url}picture?$1"; }
holds "a number of no picture is refused" same "400 400 400 400" "$(status id=0) $(status id=4000000000) $(status '') $(status id=1,2)"
holds "with words" grep -q 'one stack or picture' "$TMPDIR/body"
run_node tests/browser/pictures.js
"$HYPROF" html -o "$TMPDIR/pictures.html" "$TMPDIR/pictures.hyp" >"$TMPDIR/html.out" 2>&1
holds "a page in one file has all of them" same "0" "$(grep -c 'pictures of frames' "$TMPDIR/html.out")"
"$HYPROF" html --redact -o "$TMPDIR/redacted.html" "$TMPDIR/pictures.hyp" >"$TMPDIR/html.out" 2>&1
holds "one that names nothing private has none, and says so" grep -q 'pictures of frames are left out' "$TMPDIR/html.out"
if command -v chromium >/dev/null; then
        VIEWER=$url run_node tests/browser/picture_tip.js
        VIEWER=file://$TMPDIR/pictures.html run_node tests/browser/picture_tip.js
else
        skips_group "the tip of a frame has its picture: all cases" "tool: chromium is not installed"
fi
