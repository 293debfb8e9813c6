// SPDX-License-Identifier: MIT
// The functions of the pages that need no document: folding equals brute force, a file's lanes decode to what was
// encoded, hostile bytes are refused, numbers read as the reports', colours keep their contrast.
'use strict';

const fs = require('fs');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { loadPages, pageScope } = require('./loaded_pages.js');
const { FixedRandom, ColumnWriter, encodeFileLanes } = require('./fake_trace.js');

const inPages = loadPages();
const plain = (value) => JSON.parse(JSON.stringify(value));

/** Spans that do not overlap, of very different lengths, some of no length. */
function randomSpans(random, n) {
        const spans = [];
        let at = random.below(1000);
        for (let i = 0; i < n; i++) {
                const length = random.below(8) === 0 ? 0 : random.below(1 << (1 + random.below(16)));
                spans.push([at, at + length, random.below(5)]);
                at += Math.max(1, length) + random.below(1 << random.below(12));
        }
        return spans;
}

function wholeLane(spans) {
        return { isPoints: false, n: spans.length, begin: Float64Array.from(spans, (s) => s[0]),
                end: Float64Array.from(spans, (s) => s[1]), longestBegin: Float64Array.from(spans, (s) => s[0]),
                longestNs: Float64Array.from(spans, (s) => s[1] - s[0]), what: Uint32Array.from(spans, (s) => s[2]),
                count: new Uint32Array(spans.length).fill(1) };
}

/** The definition in ten lines: every span is looked at. */
function foldedByBruteForce(spans, from, to, q) {
        const touches = ([begin, end]) => begin < to && (end > from || (begin === end && begin === from));
        const items = [];
        const buckets = new Map();
        for (const span of spans) {
                const [begin, end, what] = span;
                if (end - begin >= q) {
                        if (touches(span)) {
                                items.push([begin, end, begin, end - begin, what, 1]);
                        }
                        continue;
                }
                const bucket = Math.floor(begin / q);
                const item = buckets.get(bucket);
                if (!item) {
                        buckets.set(bucket, { touched: touches(span), values: [begin, end, begin, end - begin, what, 1] });
                        continue;
                }
                item.touched = item.touched || touches(span);
                item.values[1] = end;
                item.values[5]++;
                if (end - begin > item.values[3]) {
                        item.values.splice(2, 3, begin, end - begin, what);
                }
        }
        items.push(...[...buckets.values()].filter((item) => item.touched).map((item) => item.values));
        return items.sort((a, b) => a[0] - b[0]);
}

function itemsAsRows(items) {
        return Array.from({ length: items.n }, (_, i) => [items.begin[i], items.end[i], items.longestBegin[i],
                items.longestNs[i], items.what[i], items.count[i]]);
}

test('1,000 random views of random lanes equal brute force', () => {
        const random = new FixedRandom(11);
        const foldSpans = inPages('foldSpans');
        for (let round = 0; round < 100; round++) {
                const spans = randomSpans(random, 1 + random.below(200));
                const lane = wholeLane(spans);
                const end = spans[spans.length - 1][1] + 10;
                for (let view = 0; view < 10; view++) {
                        const from = random.below(end);
                        const to = from + 1 + random.below(end - from);
                        const bucketLog2 = random.below(18);
                        assert.deepStrictEqual(itemsAsRows(foldSpans(lane, from, to, bucketLog2)),
                                foldedByBruteForce(spans, from, to, Math.pow(2, bucketLog2)),
                                'round ' + round + ', from ' + from + ' to ' + to + ', bucket 2^' + bucketLog2);
                }
        }
});

test('an outlier of 1 us in an hour is kept as the longest of its bucket', () => {
        const spans = Array.from({ length: 3600 }, (_, i) => [i * 1e9, i * 1e9 + (i === 1234 ? 1000 : 10), i === 1234 ? 7 : 1]);
        const items = inPages('foldSpans')(wholeLane(spans), 0, 3600e9, 32);
        const at = Array.from(items.longestNs).indexOf(1000);
        assert.ok(at >= 0);
        assert.strictEqual(items.what[at], 7);
        assert.strictEqual(items.longestBegin[at], 1234e9);
        assert.ok(items.count[at] >= 4);
});

test('points with values are one item a bucket: least, greatest, first, last', () => {
        const begin = Float64Array.from([0, 1, 2, 3, 4, 9]);
        const values = Float64Array.from([5, 9, -2, 3, 1, 8]);
        const lane = { isPoints: true, n: 6, begin, values, min: values, max: values, last: values, count: new Uint32Array(6).fill(1) };
        const items = inPages('foldPoints')(lane, 0, 10, 2);
        assert.deepStrictEqual([...items.begin], [0, 4, 9]);
        assert.deepStrictEqual([...items.min], [-2, 1, 8]);
        assert.deepStrictEqual([...items.max], [9, 1, 8]);
        assert.deepStrictEqual([...items.first], [5, 1, 8]);
        assert.deepStrictEqual([...items.last], [3, 1, 8]);
        assert.deepStrictEqual([...items.count], [4, 1, 1]);
        assert.deepStrictEqual([...inPages('foldPoints')(lane, 4, 6, 0).begin], [3, 4, 9], 'lines reach the values beside the view');
});

function bufferOf(bytes) {
        return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
}

test("a file's lanes decode to what was encoded, with times beyond 32 bits", () => {
        const spans = [[5, 9, 1], [5e9, 5e9 + 3, 4000000000], [1e13, 1e13 + 6e9, 2], [2e13, 2e13, 3]];
        const points = [[7e9, 1.5], [7e9 + 1, -2.25]];
        const lanes = inPages('decodeFileLanes')(bufferOf(encodeFileLanes([{ id: 3, spans }, { id: 9, points }, { id: 4, spans: [] }])));
        const first = lanes.get(3)();
        assert.deepStrictEqual(Array.from({ length: 4 }, (_, i) => [first.begin[i], first.end[i], first.what[i]]), spans);
        const second = lanes.get(9)();
        assert.deepStrictEqual([...second.begin], [7e9, 7e9 + 1]);
        assert.deepStrictEqual([...second.values], [1.5, -2.25]);
        assert.strictEqual(lanes.get(4)().n, 0);
});

test('pairs of zones in a file are found from both ends', () => {
        const FileLaunches = inPages('FileLaunches');
        const pairs = new FileLaunches([1, 100, 7, 100, 5, 112, 3, 112, 1, 100, 7, 105, 6, 115, 4, 118, 6, 115, 4, 119, 1, 100, 7, 120,
                9, 9]);
        const end = (track, begin_ns, what, at_ns, own_ns, is_from) => ({ track, begin_ns, what, at_ns, own_ns, is_from });
        assert.deepEqual(pairs.of({ id: 1 }, 100, 7), { n: 3, ends: [end(6, 115, 4, 119, 120, true), end(5, 112, 3, 112, 100, false),
                end(6, 115, 4, 118, 105, false)] });
        assert.deepEqual(pairs.of({ id: 5 }, 112, 3), { n: 1, ends: [end(1, 100, 7, 100, 112, true)] });
        assert.deepEqual(pairs.of({ id: 1 }, 100, 8), { n: 0, ends: [] });
        assert.deepEqual(new FileLaunches([]).of({ id: 1 }, 100, 7), { n: 0, ends: [] });
        assert.deepEqual(plain(pairs.between(0, 200)), { n: 3, arrows: [[1, 105, 6, 118], [1, 100, 5, 112],
                [6, 119, 1, 120]] });
        assert.deepEqual(plain(pairs.between(112, 119)), { n: 2, arrows: [[1, 105, 6, 118], [1, 100, 5, 112]] });
        assert.deepEqual(plain(pairs.between(119, 120)), { n: 1, arrows: [[6, 119, 1, 120]] });
        assert.deepEqual(plain(new FileLaunches([]).between(0, 200)), { n: 0, arrows: [] });
        const many = new FileLaunches(Array.from({ length: 600 }, (_, i) => [1, 0, 1, 1000, 2, 0, 1, 1000 + i]).flat()).between(0, 9999);
        assert.deepEqual([many.n, many.arrows.length, many.arrows[0][3], many.arrows[499][3]], [600, 500, 1599, 1100]);
});

test('a line is cut at the edges of a picture', () => {
        const clip = (x1, y1, x2, y2) => inPages('clipLine')({ x: x1, y: y1 }, { x: x2, y: y2 }, { top: 10, right: 100, bottom: 50 });
        assert.deepEqual(clip(10, 20, 90, 40), [0, 1]);
        assert.deepEqual(clip(50, 20, 150, 20), [0, 0.5]);
        assert.deepEqual(clip(50, 0, 50, 80), [0.125, 0.625]);
        assert.deepEqual(clip(50, 80, 50, 0), [0.375, 0.875]);
        assert.strictEqual(clip(-10, 20, -5, 40), null);
        assert.strictEqual(clip(50, 60, 90, 60), null);
        assert.strictEqual(clip(99, 5, 119, 25), null);
});

test('lanes that are cut off, or of another kind, are refused with words', () => {
        const whole = bufferOf(encodeFileLanes([{ id: 3, spans: [[5, 9, 1], [10, 11, 2], [12, 19, 1]] }]));
        for (let length = 0; length < whole.byteLength; length += 8) {
                assert.throws(() => inPages('decodeFileLanes')(whole.slice(0, length)), /cut off|version/, 'cut to ' + length);
        }
        const writer = new ColumnWriter();
        writer.words([0x4c545948, 1]);
        writer.words([1, 0]);
        writer.words([1, 0, 0xfffffff0, 3]);
        assert.throws(() => inPages('decodeLanes')(bufferOf(writer.done())), /cut off/);
        assert.throws(() => inPages('decodeLanes')(whole), /version/);
});

test('the nearest span after and before an instant', () => {
        const lane = wholeLane([[10, 20, 1], [30, 40, 2], [50, 60, 1]]);
        const find = inPages('findInLane');
        assert.strictEqual(find(lane, 10, 'next', null).begin_ns, 30);
        assert.strictEqual(find(lane, 10, 'next', 1).begin_ns, 50);
        assert.strictEqual(find(lane, 50, 'previous', null).begin_ns, 30);
        assert.strictEqual(find(lane, 50, 'previous', 1).begin_ns, 10);
        assert.strictEqual(find(lane, 10, 'previous', null), null);
        assert.strictEqual(find(lane, 50, 'next', 7), null);
});

test('numbers read as in the reports', () => {
        const cases = { 'formatDuration(0)': '0 ns', 'formatDuration(999)': '999 ns', 'formatDuration(1000)': '1.00 us',
                'formatDuration(12345678)': '12.3 ms', 'formatDuration(999600)': '1.00 ms', 'formatDuration(40e9)': '40.0 s',
                'formatDuration(null)': '-', 'formatCount(1103220)': '1,103,220', 'formatCount(7)': '7',
                'formatBytes(31000000)': '31.0 MB', 'formatShare(0.3124)': '31.2%', 'parseDuration("1.5ms")': 1500000,
                'parseDuration("20 us")': 20000, 'parseDuration("x")': null, 'roundStep(3.1)': 5, 'roundStep(1)': 1 };
        for (const [expression, wanted] of Object.entries(cases)) {
                assert.strictEqual(inPages(expression), wanted, expression);
        }
});

test('the state survives the way through a fragment, and hostile names do not', () => {
        const state = { screen: 'zones', zone: 'a&b=#"<script>', from: '5', to: '9' };
        const parsed = plain(inPages('(s) => Viewer.parse(Viewer.fragment(s))')(state));
        assert.deepStrictEqual(parsed, state);
        assert.deepStrictEqual(plain(inPages('Viewer.parse("#__proto__=1&Bad-Name=2&zone=ok")')).zone, 'ok');
        assert.strictEqual(inPages('Object.keys(Viewer.parse("#Bad-Name=2&A=1")).length'), 0);
});

test('text on the colour of any name has a contrast of 4.5 to 1 in light and dark', () => {
        const nameColorOf = inPages('nameColorOf');
        const contrastOfRgb = inPages('contrastOfRgb');
        const rgb = (css) => [1, 3, 5].map((at) => parseInt(css.slice(at, at + 2), 16));
        for (let i = 0; i < 2000; i++) {
                for (const isDark of [false, true]) {
                        const color = nameColorOf('name ' + i, isDark);
                        const contrast = contrastOfRgb(rgb(color.fill), rgb(color.text));
                        assert.ok(contrast >= 4.5, 'name ' + i + ': ' + contrast.toFixed(2));
                }
        }
        for (let value = 0; value < 0xffffff; value += 0x010f3d) {
                for (const isDark of [false, true]) {
                        const color = inPages('nameColorOfValue')(value, isDark);
                        assert.ok(contrastOfRgb(rgb(color.fill), rgb(color.text)) >= 4.5, value.toString(16));
                }
        }
});

test('a colour that a program gave a zone stands out from the page, and is its own where it does so', () => {
        const [contrastOfRgb, nameColorOfValue, pages] = ['contrastOfRgb', 'nameColorOfValue', 'PAGE_RGB'].map((name) => inPages(name));
        const rgb = (css) => [1, 3, 5].map((at) => parseInt(css.slice(at, at + 2), 16));
        const style = fs.readFileSync(path.join(__dirname, '../../web/pages/page.css'), 'utf8');
        const backgrounds = [...style.matchAll(/--background: (#[0-9a-f]{6})/g)].map((found) => rgb(found[1]));
        assert.deepStrictEqual(plain([pages.light, pages.dark]), backgrounds);
        let nShifted = 0;
        for (const [isDark, page] of [[false, pages.light], [true, pages.dark]]) {
                for (const value of [0xffffff, 0xfffffe, 0xffff00, 0xfafafa, 0, 1, 0x000040, 0x101218,
                        ...Array.from({ length: 500 }, (_, i) => i * 33554)]) {
                        const { fill } = nameColorOfValue(value, isDark);
                        const own = [(value >> 16) & 255, (value >> 8) & 255, value & 255];
                        assert.ok(contrastOfRgb(rgb(fill), page) >= 1.5, `${value.toString(16)} as ${fill}`);
                        if (contrastOfRgb(own, page) >= 1.5) {
                                assert.deepStrictEqual(rgb(fill), own);
                        } else {
                                nShifted++;
                        }
                }
        }
        assert.ok(nShifted > 12, String(nShifted));
});

test('a text that does not fit ends with an ellipsis within its room, whatever its letters', () => {
        const cutToWidth = inPages('cutToWidth');
        const wide = { W: 10, i: 2, '…': 9 };
        const context = { font: 'made up', measureText: (text) => ({ width: [...text].reduce((sum, one) => sum + wide[one], 0) }) };

        for (const text of ['W'.repeat(30), 'i'.repeat(30), 'W'.repeat(15) + 'i'.repeat(30), 'i'.repeat(30) + 'W'.repeat(15)])
                for (let room = 25; room < 420; room += 7) {
                        const cut = cutToWidth(context, text, room);

                        assert.ok(context.measureText(cut).width <= room, `${cut} in ${room}`);
                        assert.ok(cut === text || /^[Wi]{2,}…$/.test(cut) || (cut === '' && room < 29), `${cut} in ${room}`);
                        assert.strictEqual(cut === text, context.measureText(text).width <= room);
                }
});

test('threads that share a name are told apart by their numbers', () => {
        const thread = (id, name) => ({ id, handle: 't' + id, process: 1, tid: 70 + id, name, is_fiber: false });
        const model = inPages('(document) => new TraceModel(document)')({ threads: [thread(1, 'main'), thread(2, 'python3'),
                thread(3, 'python3'), thread(4, ''), thread(5, '')] });

        assert.deepStrictEqual([1, 2, 3, 4, 6].map((id) => model.threadName(id)), ['main', 'python3 72', 'python3 73', '74', 'thread 6']);
        assert.strictEqual(model.stateName((3 << 28 | 3) >>> 0), 'runnable, woken by python3 73');
});

test('a model with missing parts is taken as empty', () => {
        assert.strictEqual(inPages('new TraceModel({}).tracks.length'), 0);
        assert.strictEqual(inPages('new TraceModel({}).locationName(7)'), 'zone 7');
        assert.strictEqual(inPages('new TraceModel({}).nameOf("cpu", 3)'), 'thread 3');
});

test('rows of the timeline: pins first, idle threads and uncontended locks only when asked for, moved tracks', () => {
        const lane = (id, kind, items = 1) => ({ id, kind, depth: 0, items });
        const track = (id, kind, process, lanes) => ({ id, kind, title: kind + ' ' + id, process, thread: kind === 'thread' ? id : null,
                unit: null, lanes });
        const model = inPages('(document) => new TraceModel(document)')({
                processes: [{ id: 1, pid: 7, name: 'p' }, { id: 2, pid: 8, name: 'q' }],
                tracks: [track(0, 'cpu', null, [lane(1, 'cpu')]), track(1, 'thread', 1, [lane(2, 'zones'), lane(3, 'ghosts')]),
                        track(2, 'thread', 1, [lane(4, 'states')]), track(3, 'thread', 2, [lane(5, 'samples')]),
                        track(4, 'lock', 1, [lane(6, 'holder')]), track(5, 'lock', 1, [lane(7, 'holder'), lane(8, 'waiters')])] });
        const choice = { showsGhosts: false, showsIdle: false, closed: new Set(), pinned: [], moved: new Map(), path: null,
                ghosts: new Set(), isFolded: false, hidesEmpty: false, filter: '', sort: '', numbers: new Map(),
                view: { from: 0, to: 1e18 }, found: '' };
        const titles = () => inPages('timelineRows')(model, choice).rows.map((row) => row.title).join();
        assert.strictEqual(titles(), 'cpu 0,p 7,thread 1,lock 5,q 8: thread 3');
        choice.showsIdle = true;
        assert.strictEqual(titles(), 'cpu 0,p 7,thread 1,thread 2,lock 4,lock 5,q 8: thread 3');
        choice.moved.set('thread:1', 2).set('thread:2', 1);
        assert.strictEqual(titles(), 'cpu 0,p 7,thread 2,thread 1,lock 4,lock 5,q 8: thread 3');
        choice.pinned.push('thread:3');
        choice.closed.add('process:1');
        assert.strictEqual(titles(), 'thread 3,cpu 0,p 7');
        choice.showsIdle = false;
        choice.path = { threads: [2], isFirst: false };
        assert.strictEqual(titles(), 'thread 3,cpu 0,p 7,thread 2,thread 1,lock 5', 'of a path, also idle threads and folded processes');
        choice.path = { threads: [2, 3], isFirst: true };
        assert.strictEqual(titles(), 'thread 2,thread 3,cpu 0,p 7', 'each once');
        const { rows, height } = inPages('timelineRows')(model, { ...choice, closed: new Set(), pinned: [] });
        rows.reduce((y, row) => {
                assert.strictEqual(row.y, y);
                return y + row.height;
        }, 0);
        assert.strictEqual(rows[rows.length - 1].y + rows[rows.length - 1].height, height);
        assert.ok(rows.flatMap((row) => row.lanes).every((one) => one.lane.kind !== 'ghosts'));
});

test('rows grow into the room there is, never beyond it, to twice the height of their lanes; not while the trace comes in', () => {
        const lane = (id, kind) => ({ id, kind, depth: 0, items: 1 });
        const document = { processes: [{ id: 1, pid: 7, name: 'p' }], tracks: Array.from({ length: 9 }, (_, i) => ({ id: i, kind: 'thread',
                title: 't' + i, process: 1, thread: i, unit: null, lanes: [lane(2 * i + 1, 'states'), lane(2 * i + 2, 'zones')] })) };
        const modelOf = inPages('(document) => new TraceModel(document)');
        const choice = { ...inPages('WHOLE_CHOICE'), showsGhosts: false, closed: new Set() };
        const fitted = (more, room) => inPages('fittedRows')(modelOf({ ...document, ...more }), choice, room);
        const zoneOf = ({ rows }) => rows[0].lanes[1].height;
        const least = fitted({}, 0);

        for (let room = 0; room < 3 * least.height; room += 7) {
                const { height, rows } = fitted({}, room);

                assert.ok(height === least.height || height <= room, `${height} in ${room}`);
                assert.ok(rows.every((row) => row.lanes[0].height === 16 && row.lanes[1].height <= 38 &&
                        row.lanes[1].y >= row.lanes[0].y + 16 && row.lanes[1].y + row.lanes[1].height <= row.y + row.height));
        }
        assert.deepStrictEqual([zoneOf(least), zoneOf(fitted({}, least.height + 60)), zoneOf(fitted({}, 3 * least.height))], [19, 24, 38]);
        assert.deepStrictEqual([zoneOf(fitted({ is_live: true }, 5000)), zoneOf(fitted({ progress: 0.5 }, 5000))], [19, 19]);
});

test('lanes of devices: those below another are beside it, numbers count as such, and each device is for itself', () => {
        const track = (id, number, lane, title) => ({ id, kind: 'device', process: 1, thread: null, number, lane, title, unit: null,
                lanes: [] });
        const tracks = [track(0, 2, 1, 'chip 1 / core 1,1'), track(1, 1, 7, 'chip 0 / core 10,1 / BRISC'),
                track(2, 1, 2, 'chip 0 / core 2,1 / NCRISC'), track(3, 1, 9, 'chip 0 / core 2,1'), track(4, 1, 4, 'chip 0 / core 10,1'),
                track(5, 1, 5, 'chip 0 / core 2,1 / BRISC'), track(6, 1, 11, 'chip 0 lane 11'), track(7, 1, 3, 'chip 0 lane 3')];
        const model = inPages('(document) => new TraceModel(document)')({ tracks });
        const placeOf = inPages('placeOfTrack');
        const order = [...model.tracks].sort((a, b) => placeOf(a) - placeOf(b)).map((one) => one.id);
        assert.deepStrictEqual(plain(order), [3, 5, 2, 4, 1, 7, 6, 0]);
});

/** Chips with cores of five processors each; the n-th lane was busy for n of 1,000 ns. */
function modelOfChips(nCores) {
        const tracks = [];
        for (let i = 0; i < nCores * 5; i++) {
                const path = ['chip 1', `core ${Math.floor(i / 5)}`, `cpu ${i % 5}`];
                tracks.push({ id: i, kind: 'device', process: null, thread: null, number: 2, lane: i, title: path.join(' / '), path,
                        busy_ns: i, unit: null, lanes: [{ id: i, kind: 'device', depth: 0, items: 1 }] });
        }
        const path = ['chip 0', 'stream 7'];
        tracks.push({ id: 9999, kind: 'device', process: null, thread: null, number: 1, lane: 0, title: path.join(' / '), path, busy_ns: 1,
                unit: null, lanes: [{ id: 9999, kind: 'device', depth: 0, items: 1 }] });
        return inPages('(document) => new TraceModel(document)')({ duration_ns: 1000, tracks });
}

test('lanes of devices nest: names once, numbers as such, a device with many lanes folded to its busiest', () => {
        const choice = { ...inPages('WHOLE_CHOICE'), showsGhosts: false, closed: new Set() };
        const rowsOf = (model) => inPages('timelineRows')(model, choice).rows;
        const titles = (rows) => rows.map((row) => '-'.repeat(row.depth) + row.title).join();
        const small = rowsOf(modelOfChips(2));
        assert.strictEqual(titles(small), 'chip 0 / stream 7,chip 1,-core 0,--cpu 0,--cpu 1,--cpu 2,--cpu 3,--cpu 4,-core 1,--cpu 0,' +
                '--cpu 1,--cpu 2,--cpu 3,--cpu 4');
        assert.ok(small.every((row) => row.isOpen));
        assert.strictEqual(small[2].lanes.length, 0);
        const large = modelOfChips(100);
        const folded = rowsOf(large);
        assert.strictEqual(titles(folded), 'chip 0 / stream 7,chip 1');
        assert.strictEqual(folded[1].note, '500 lanes, 24.9% busy');
        assert.deepStrictEqual(plain(folded[1].lanes.map((one) => one.lane.id)), [494, 495, 496, 497, 498, 499]);
        const last = folded[1].lanes[5];
        assert.ok(last.y + last.height <= folded[1].y + folded[1].height, 'the strips are in their row');
        inPages('setOpen')(choice, folded[1].key, true);
        assert.strictEqual(titles(rowsOf(large).slice(0, 14)), 'chip 0 / stream 7,chip 1,-core 0,-core 1,-core 2,-core 3,-core 4,-core 5,' +
                '-core 6,-core 7,-core 8,-core 9,-core 10,-core 11');
        inPages('keysAround')(large.tracks[52]).forEach((key) => inPages('setOpen')(choice, key, true));
        assert.strictEqual(titles(rowsOf(large).slice(12, 16)), '-core 10,--cpu 0,--cpu 1,--cpu 2');
        inPages('setOpen')(choice, folded[1].key, false);
        assert.strictEqual(titles(rowsOf(large)), 'chip 0 / stream 7,chip 1');
});

test('rows of devices that are folded or open are in the address', () => {
        const choice = { ...inPages('WHOLE_CHOICE'), showsGhosts: false, closed: new Set() };
        const again = { ...choice, closed: new Set() };
        const [row] = inPages('timelineRows')(modelOfChips(100), choice).rows.slice(1);
        inPages('setOpen')(choice, row.key, true);
        inPages('setOpen')(choice, 'thread:3', false);
        const words = inPages('rowsOfChoice')(choice);
        inPages('choiceOfRows')(again, words);
        assert.deepStrictEqual(plain([...again.closed]), plain([...choice.closed]));
        inPages('choiceOfRows')(again, `${words}.f~%zz.f~%E0%A4%A`);
        assert.strictEqual(again.closed.size, choice.closed.size);
        assert.strictEqual(inPages('timelineRows')(modelOfChips(100), again).rows[1].isOpen, true);
});

test('a lane with lanes below it is the first of them; two of one name are two', () => {
        const choice = { ...inPages('WHOLE_CHOICE'), showsGhosts: false, closed: new Set() };
        const track = (id, ...path) => ({ id, kind: 'device', process: null, thread: null, number: 1, lane: id, path, unit: null,
                title: path.join(' / '), lanes: [{ id, kind: 'device', depth: 0, items: 1 }] });
        const tracks = [track(0, 'chip', 'core', 'cpu'), track(1, 'chip', 'core'), track(2, 'chip', 'x'), track(3, 'chip', 'x')];
        const model = inPages('(document) => new TraceModel(document)')({ tracks });
        const { rows } = inPages('timelineRows')(model, choice);
        assert.strictEqual(rows.map((row) => '-'.repeat(row.depth) + row.title).join(), 'chip,-core,--core,--cpu,-x,-x');
        assert.deepStrictEqual(plain(rows.flatMap((row) => row.lanes.map((one) => one.lane.id))), [1, 0, 2, 3]);
});

test('the parts of a path: in the order of time, with the steps between threads; rows that make no sense are left out', () => {
        const model = inPages('(document) => new TraceModel(document)')({ threads: [{ id: 4, handle: 't4', name: 'main', tid: 1 },
                { id: 9, handle: 't9', name: '', tid: 77 }] });
        const row = (at_ns, ns, thread, depth, kind, more) => ({ at_ns, ns, thread, depth, kind, function: null, woken_by: null, ...more });
        const answer = { slowest: { rows: [row(30, 5, 't4', 0, 'ready', { woken_by: 't9' }), row(0, 10, 't4', 0, 'run', { function: 'f' }),
                row(10, 20, 't9', 1, 'run', { function: 'operator()(int)' }), row(35, 5, 't4', 0, 'newer kind'), row(1, 0, 't4', 0, 'run'),
                row(1, 1, 't7', 0, 'run'), row('1', 1, 't4', 0, 'run'), row(1, -1, 't4', 0, 'run'), {}] } };
        const segments = inPages('pathSegments')(model, answer, 1000);
        assert.deepStrictEqual(plain(segments.map((one) => [one.begin, one.end, one.thread, one.look, one.wokenBy])),
                [[1000, 1010, 4, 'run', null], [1010, 1030, 9, 'run', null], [1030, 1035, 4, 'ready', 9], [1035, 1040, 4, 'wait', null]]);
        assert.deepStrictEqual(plain(inPages('pathSteps')(segments)), [{ at: 1010, from: 4, to: 9, isWakeUp: false },
                { at: 1030, from: 9, to: 4, isWakeUp: true }]);
        assert.deepStrictEqual(plain(inPages('pathThreads')(segments, 4)), [4, 9]);
        const part = (thread, begin, end) => ({ thread, begin, end });
        const parts = [part(7, 0, 1), part(9, 1, 3), part(7, 3, 5), part(4, 5, 6)];
        assert.deepStrictEqual(plain(inPages('pathThreadsByTime')(parts, 4)), [4, 7, 9]);
        assert.deepStrictEqual(plain(segments.map(inPages('labelOfSegment'))), ['f() 10 ns', 'operator()(int) 20 ns', 'ready to run 5 ns',
                'in another state 5 ns']);
        const device = { function: 'matmul', device: 'gpu / stream 0' };
        const ofDevice = { slowest: { rows: [row(0, 9, 't4', 1, 'launch', device), row(9, 20, 't4', 1, 'device', device)] } };
        assert.deepStrictEqual(plain(inPages('pathSegments')(model, ofDevice, 0).map(inPages('labelOfSegment'))),
                ['the launch of matmul on gpu / stream 0 9 ns', 'matmul on gpu / stream 0 20 ns']);
        assert.deepStrictEqual(plain(inPages('pathSegments')(model, { slowest: null }, 0)), []);
        assert.deepStrictEqual(plain(inPages('pathSteps')([])), []);
});

test('sums of CPU time have the mean of what lies between two of them, also when they are folded', () => {
        const begin = Float64Array.from([0, 10, 20, 40, 50]);
        const values = Float64Array.from([0, 20, 20, 50, 51]);
        const lane = { isPoints: true, n: 5, begin, values, min: values, max: values, last: values, count: new Uint32Array(5).fill(1) };
        const meanAt = inPages('meanAt');
        const means = (bucket) => [0, 9, 15, 39.5, 49].map((ns) => meanAt(inPages('foldPoints')(lane, 0, 50, bucket), ns)?.mean);
        assert.deepStrictEqual(means(0), [2, 2, 0, 1.5, 0.1]);
        assert.deepStrictEqual(means(5), [1.25, 1.25, 1.25, 1.25, undefined], 'the first of each 32 ns');
        assert.strictEqual(meanAt(null, 3), null);
        assert.strictEqual(meanAt(inPages('noItems')(), 3), null);
        assert.strictEqual(inPages('cpusOf')(inPages('(document) => new TraceModel(document)')({})), 1);
});

test('what ran and the causes are all CPUs in each part of the strip, which ends where a step does', () => {
        const rows = [[0, 20, 'run', 1], [0, 20, 'quota', 0.5], [20, 10, null, 0], [40, 10, 'no such cause', 1]]
                .map(([at_ns, ns, cause, cores]) => ({ at_ns, ns, cause, cores, running: 2 - cores }));
        const steps = inPages('causeStepsOf')({ steps: { rows }, warnings: ['a', 'record --idle'] });
        const causes = inPages('CAUSES');
        assert.deepStrictEqual(plain(steps.begin), plain(Float64Array.from([0, 20, 40])));
        assert.strictEqual(steps.note, 'record --idle');
        const mixOf = (from, to) => inPages('mixOfCauses')(steps, from, to);
        assert.strictEqual(mixOf(30, 40), null);
        assert.strictEqual(mixOf(50, 60), null);
        assert.strictEqual(mixOf(10, 30).cores[causes.indexOf('run')], 0.5);
        assert.deepStrictEqual([mixOf(10, 30).begin, mixOf(10, 30).end], [0, 30]);
        assert.strictEqual(mixOf(45, 46).cores[causes.indexOf('unknown')], 1);
        const begin = Float64Array.from([0, 10, 50]);
        const ran = { isPoints: true, n: 3, begin, first: Float64Array.from([0, 20, 40]) };
        const parts = inPages('partsOfParallel')(ran, steps, { from: 0, to: 50, nCpus: 4 });
        assert.deepStrictEqual(plain(parts.map((part) => [part.begin, part.end, part.ran])),
                [[0, 10, 2], [10, 20, 0.5], [20, 30, 0.5], [30, 40, 0.5], [40, 50, 0.5]]);
        const sums = parts.map((part) => part.cores && Number((part.ran + part.cores.reduce((sum, cores) => sum + cores, 0)).toFixed(9)));
        assert.deepStrictEqual(plain(sums), [4, 4, null, null, 4]);
        assert.strictEqual(parts[0].cores[causes.indexOf('run')], 2 * parts[0].cores[causes.indexOf('quota')]);
        assert.deepStrictEqual(plain(inPages('partsOfParallel')(null, null, { from: 0, to: 50, nCpus: 4 })), []);
        assert.strictEqual(inPages('partsOfParallel')(null, steps, { from: 0, to: 45, nCpus: 2 }).length, 3);
});

test('the cache stands in with what is nearest, keeps the widest, and asks for no more items than a reply may have', async () => {
        const asked = [];
        const run = inPages(`(asked, log) => {
                const source = { lanes: async (ids, from, to, bucketLog2) => {
                        asked.push([ids.length, from, to, bucketLog2]);
                        return new Map(ids.map((id) => [id, { ...emptySpanItems(bucketLog2), bucketLog2 }]));
                } };
                return new LaneCache(source, 1e9, () => {}, (error) => { throw error; });
        }`);
        const cache = run(asked);
        assert.strictEqual(inPages('bucketOf')(1), 1);
        assert.strictEqual(inPages('bucketOf')(0.001), 0);
        cache.need([1], 0, 1e9, 20);
        await new Promise((resolve) => setImmediate(resolve));
        assert.ok(cache.has(1, 0, 1e9, 20));
        assert.strictEqual(cache.best(1, 4e8, 5e8, 10).bucketLog2, 20, 'stretched until the finer one is there');
        for (let bucketLog2 = 16; bucketLog2 > 9; bucketLog2--) {
                cache.need([1], 4e8, 4e8 + 1000 * Math.pow(2, bucketLog2), bucketLog2);
                await new Promise((resolve) => setImmediate(resolve));
        }
        assert.strictEqual(cache.best(1, 4e8, 4e8 + 1000, 10).bucketLog2, 10);
        assert.strictEqual(cache.best(1, 0, 1e9, 20).bucketLog2, 20, 'the widest stays for a fast zoom out');
        assert.ok(cache.windows.get(1).length <= 4);
        cache.need(Array.from({ length: 1000 }, (_, i) => i + 10), 0, 1e9, 18);
        await new Promise((resolve) => setImmediate(resolve));
        const [n, from, to, bucketLog2] = asked[asked.length - 1];
        assert.ok(n * (2 * (to - from) / Math.pow(2, bucketLog2) + 2) <= 200000, n + ' lanes at once');
        cache.need(Array.from({ length: 3000 }, (_, i) => i + 5000), 0, 8, 0);
        await new Promise((resolve) => setImmediate(resolve));
        assert.strictEqual(asked[asked.length - 1][0], 1000, 'the server takes no more ids in a request');
});

test('a reply that has all of what is wanted by then is the only one, and what waits for the picture goes on then', async () => {
        const asked = [];
        const cache = inPages(`(asked) => new LaneCache({ lanes: async (ids, from, to, bucketLog2) => {
                asked.push([...ids]);
                return new Map(ids.map((id) => [id, { ...emptySpanItems(bucketLog2), bucketLog2 }]));
        } }, 1e9, () => {}, (error) => { throw error; })`)(asked);
        let isPainted = false;
        const rest = () => new Promise((resolve) => setImmediate(resolve));

        cache.painted.then(() => { isPainted = true; });
        cache.need([1, 2], 0, 1e9, 20);
        cache.need([1, 2], 0, 1e9, 20); // drawn again before the reply
        await rest();
        assert.deepStrictEqual(plain(asked), [[1, 2]]);
        assert.strictEqual(isPainted, false);
        cache.need([1, 2], 0, 1e9, 20);
        await rest();
        assert.strictEqual(isPainted, true);
        cache.need([1, 2], 0, 1e8, 16);
        cache.need([2, 3], 0, 1e8, 16);
        await rest();
        assert.deepStrictEqual(plain(asked.slice(1)), [[1, 2], [3]], 'of the next view, what it lacks');
});

test('jumps to one place are one arrow, short ones next to the code, and arrows of one lane never meet', () => {
        const random = new FixedRandom(7);
        for (let round = 0; round < 50; round++) {
                const n = 2 + random.below(60);
                const rows = Array.from({ length: n }, (_, at) => ({ title: '', number: '', text: '', row: random.below(9) === 0 ? null
                        : { address: '0x' + at, target_address: random.below(3) === 0 ? '0x' + random.below(n + 3) : null } }));
                const arrows = plain(inPages(`listingArrows(${JSON.stringify(rows)})`));
                const wanted = new Map();
                rows.forEach(({ row }, at) => {
                        const to = row && row.target_address
                                ? rows.findIndex((one) => one.row && one.row.address === row.target_address) : -1;
                        if (to >= 0) {
                                wanted.set(to, [...(wanted.get(to) || []), at]);
                        }
                });
                assert.ok(arrows.length <= wanted.size);
                for (const arrow of arrows) {
                        const ends = [arrow.target, ...wanted.get(arrow.target)];
                        assert.deepStrictEqual(arrow.jumps, wanted.get(arrow.target));
                        assert.deepStrictEqual([arrow.first, arrow.last], [Math.min(...ends), Math.max(...ends)]);
                        for (const other of arrows) {
                                assert.ok(other === arrow || other.lane !== arrow.lane || other.last < arrow.first
                                        || other.first > arrow.last);
                        }
                }
                assert.ok(wanted.size > 8 || arrows.length === wanted.size, 'only what finds no room is left out');
        }
});

test('the words of a line are the line, and of the kinds that an editor shows', () => {
        const kinds = (text) => plain(inPages(`codeWords(${JSON.stringify(text)})`)).filter((word) => word.kind)
                .map((word) => word.kind + ' ' + word.text);
        for (const text of ['', 'int x = 0x1f; // note', '"a // b" /* c */ return', '%0 = arith.addf %a, %b : f32', "'unclosed",
                '# a comment', '#include <x.h>', ' * in a comment', 'x'.repeat(5000), '<script>1</script>']) {
                assert.strictEqual(plain(inPages(`codeWords(${JSON.stringify(text)})`)).map((word) => word.text).join(''), text);
        }
        assert.deepStrictEqual(kinds('int x = 0x1f; // note'), ['keyword int', 'number 0x1f', 'comment // note']);
        assert.deepStrictEqual(kinds('f("a // b", 2);'), ['string "a // b"', 'number 2']);
        assert.deepStrictEqual(kinds('#include <x.h>'), []);
        assert.deepStrictEqual(kinds('  # def'), ['comment   # def']);
});

test('instructions per cycle of a call are those of the same path in both trees', () => {
        const rows = (leaf) => [{ depth: 0, function: 'main', module: 'a', total_share: 1 },
                { depth: 1, function: 'leaf', module: 'a', total_share: leaf },
                { depth: 1, function: 'other', module: 'a', total_share: 0.25 }];
        const [main, leaf, other, none] = plain(inPages(`(() => {
                const cycles = callTree(${JSON.stringify(rows(0.5))}, { value: 'total_share' }, 'all');
                const beside = ${JSON.stringify(rows(0.75).slice(0, 2))};
                setRatios(cycles, callTree(beside, { value: 'total_share' }, 'all'), 2);
                const main = cycles.children[0];
                return [main.row.ratio, main.children[0].row.ratio, main.children[1].row.ratio, cycles.row.ratio];
        })()`));
        assert.deepStrictEqual([main, leaf, other, none], [2, 3, null, 2]);
});

test('arrows of wake-ups: one for two pixels between two rows, and of too many those after the longest waits', () => {
        const random = new FixedRandom(5);
        const arrows = Array.from({ length: 4000 }, () => ({ x: random.below(30000) / 10, from: 20 * random.below(3),
                                                             to: 20 * random.below(3), waited_ns: random.below(1e6) }));
        const keyOf = (arrow) => [Math.floor(arrow.x / 2), arrow.from, arrow.to].join();
        const most = inPages('ARROWS_MAX');
        const few = arrows.slice(0, 200);
        const shownOfFew = plain(inPages(`thinArrows(${JSON.stringify(few)})`));
        const shown = plain(inPages(`thinArrows(${JSON.stringify(arrows)})`));

        assert.strictEqual(new Set(shownOfFew.map(keyOf)).size, shownOfFew.length);
        assert.deepStrictEqual(new Set(shownOfFew.map(keyOf)), new Set(few.map(keyOf)), 'no place is left out');
        for (const arrow of shownOfFew)
                assert.ok(few.every((other) => keyOf(other) !== keyOf(arrow) || other.waited_ns <= arrow.waited_ns));
        assert.strictEqual(shown.length, most);
        const least = Math.min(...shown.map((arrow) => arrow.waited_ns));
        const kept = new Set(shown.map(keyOf));
        assert.ok(arrows.every((arrow) => arrow.waited_ns <= least || kept.has(keyOf(arrow))), 'only shorter waits are left out');
});

test('wake-ups of a lane are its states of being ready with a waker, each with the wait before it', () => {
        const state = (kind, value) => (kind << 28 | value) >>> 0;
        const lane = wholeLane([[0, 10, state(1, 0)], [10, 60, state(2, 1)], [60, 65, state(3, 7)], [65, 80, state(1, 0)],
                [80, 90, state(4, 0)], [90, 95, state(1, 0)], [95, 99, state(2, 1)], [99, 100, state(3, 0)], [120, 130, state(3, 9)]]);
        const items = `{ ...${JSON.stringify(Object.fromEntries(Object.entries(plain(lane)).filter(([, v]) => typeof v !== 'object')))}, ` +
                ['begin', 'end', 'longestBegin', 'longestNs', 'what', 'count'].map((key) => `${key}: [${[...lane[key]]}]`).join() + ' }';

        assert.deepStrictEqual(plain(inPages(`wakeUpsOfItems(${items}, 0, 200)`)), { isFolded: false,
                wakeUps: [{ at: 60, waker: 7, waited_ns: 50 }, { at: 120, waker: 9, waited_ns: 0 }] });
        assert.deepStrictEqual(plain(inPages(`wakeUpsOfItems(${items}, 61, 120)`)), { isFolded: false, wakeUps: [] });
});

test('a text that is cut ends with a whole letter, and has two of them', () => {
        const cut = (text, room) => plain(inPages(`cutToWidth({ font: '', measureText: (text) => ({ width: text.length }) },
                ${JSON.stringify(text)}, ${room})`));
        const begin = (text, n) => plain(inPages(`beginOfText(${JSON.stringify(text)}, ${n})`));

        assert.deepStrictEqual([cut('render', 6), cut('render', 4), cut('render', 3), cut('render', 2)], ['render', 'ren…', 're…', '']);
        for (const letter of ['𝑓', '🚀', 'e\u0301', '👍🏽', '👩\u200d🚀', '❤\ufe0f']) {
                for (let n = 0; n < letter.length; n++)
                        assert.strictEqual(begin(`ab${letter}cd`, 2 + n), 'ab', `${letter} at ${n}`);
                assert.strictEqual(begin(`ab${letter}cd`, 2 + letter.length), `ab${letter}`);
                assert.strictEqual(cut(`ab${letter}cd`, 2 + letter.length), 'ab…', letter);
                assert.strictEqual(cut(`${letter}cdefgh`, letter.length + 1), '', 'one letter is no name');
                assert.strictEqual(cut(`${letter}cdefgh`, letter.length + 2), `${letter}c…`);
        }
        assert.strictEqual(cut('\u0301'.repeat(100), 50), '');
        assert.strictEqual(cut('\udc00'.repeat(100), 50), '', 'half pairs');
});

test('what a module defines is visible in that module alone', () => {
        const inScope = pageScope();
        const names = inScope('Object.values(pageModules).flatMap((exported) => Object.keys(exported))');
        assert.ok(names.length > 100);
        assert.deepStrictEqual(plain(names.filter((name) => inScope('typeof ' + name) !== 'undefined')), []);
});
