// SPDX-License-Identifier: MIT
// Sums over a time range that the one-file page computes equal the command line's answers to the digit while nothing was
// dropped for size.  Usage: range_sums.js, with HYPROF, TRACES ("a.hyp b.hyp") and TMPDIR in the environment.
'use strict';

const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { spawnSync } = require('child_process');
const test = require('node:test');
const assert = require('node:assert');
const { loadPages } = require('./loaded_pages.js');

const inPages = loadPages();
const RANGES = [[0, 1], [0.2, 0.5], [0.33, 0.34], [0.44, 0.45], [0.45, 0.55], [0.5, 0.51], [0.55, 0.56], [0.7, 1]];
/** The page does not know these: percentiles need the histogram's bins, ratios of counters need the counters. */
const UNKNOWN = /^p\d|^ipc$|_per_1000$|^mean_without_samples_ns$/;

/** The contents of the page's data elements. */
class PageData {
        constructor(trace, options) {
                const file = path.join(process.env.TMPDIR, path.basename(trace) + '.html');
                const { status, stderr } = spawnSync(process.env.HYPROF, ['html', '-q', '--force', ...options, '-o', file, trace]);
                assert.strictEqual(status, 0, String(stderr));
                this.page = fs.readFileSync(file, 'utf8');
                this.model = inPages('(document) => new TraceModel(document)')(this.json('model'));
                this.answers = this.json('answers');
                this.stacks = this.json('stacks');
                this.samples = inPages('decodeFileSamples')(this.part('samples'));
                this.lanes = inPages('decodeFileLanes')(this.part('lanes'));
        }

        part(name) {
                const bytes = zlib.gunzipSync(Buffer.from(this.page.match('id="data-' + name + '">([^<]*)<')[1], 'base64'));
                return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
        }

        json(name) {
                return JSON.parse(Buffer.from(this.part(name)).toString());
        }

        answer(question, range) {
                return question === 'functions'
                        ? inPages('functionsOfRange')(this.model, this.answers.functions, this.samples, this.stacks, range)
                        : inPages('zonesOfRange')(this.model, this.answers.zones, this.lanes, this.samples, range);
        }
}

/** null if the range has nothing, which the command line refuses. */
function answerOfCommand(trace, question, from, to) {
        const result = spawnSync(process.env.HYPROF, ['report', '--' + question, '--json', '--limit', '0', '--from',
                (from / 1e9).toFixed(9), '--to', (to / 1e9).toFixed(9), trace], { maxBuffer: 1 << 28 });
        return result.status === 0 ? JSON.parse(result.stdout) : null;
}

/** How many values were compared; fails at the first that differs. */
function compareRows(wanted, found, words) {
        const byHandle = new Map(found.map((row) => [row.handle, row]));
        let n = 0;
        assert.strictEqual(found.length, wanted.length, words + ': rows');
        for (const row of wanted) {
                const own = byHandle.get(row.handle);
                assert.ok(own, words + ': no row of ' + row.handle);
                for (const key of Object.keys(row).filter((name) => !UNKNOWN.test(name))) {
                        const isSame = typeof row[key] === 'number' && !Number.isInteger(row[key])
                                ? Math.abs(row[key] - own[key]) < 1e-9 : JSON.stringify(row[key]) === JSON.stringify(own[key]);
                        assert.ok(isSame, words + ', ' + row.handle + ', ' + key + ': ' + own[key] + ', wanted: ' + row[key]);
                        n++;
                }
        }
        return n;
}

const traces = (process.env.TRACES || '').split(' ').filter(Boolean);

for (const question of ['functions', 'zones']) {
        test('sums of ' + question + ' over ranges equal the command line to the digit', (t) => {
                for (const trace of traces) {
                        const data = new PageData(trace, []);
                        let n = 0;
                        assert.deepStrictEqual(data.model.file.dropped.length, 0);
                        for (const [first, last] of RANGES) {
                                const from = Math.round(data.model.duration_ns * first);
                                const to = Math.round(data.model.duration_ns * last) + (last === 1 ? 1 : 0);
                                const wanted = answerOfCommand(trace, question, from, to);
                                if (wanted) {
                                        const found = data.answer(question, { from, to, thread: null, event: 1 });
                                        const words = path.basename(trace) + ' from ' + from + ' to ' + to;
                                        assert.strictEqual(found.n_samples, wanted.n_samples, words);
                                        assert.ok(!found.warnings.some((text) => text.includes('approximate')));
                                        n += compareRows(wanted[question].rows, found[question].rows, words);
                                }
                        }
                        assert.ok(n > 0, path.basename(trace) + ': nothing was compared');
                        t.diagnostic(path.basename(trace) + ', ' + question + ': ' + n + ' values are equal');
                }
        });
}

/** Parts of the durations of a zone: from the p-th to the q-th share of its instances. */
const PARTS = [[0, 1], [0.5, 1], [0.2, 0.8], [0.9, 1]];
const OF_INSTANCES = ['count', 'total_ns', 'self_ns', 'on_cpu_ns', 'min_ns', 'mean_ns', 'max_ns'];
const OF_SLOWEST = ['duration_ns', 'at_ns', 'thread', 'on_cpu_ns', 'self_ns', 'handle'];

test('instances of parts, ranges and groups equal the command line', (t) => {
        let n = 0;
        for (const trace of traces) {
                const data = new PageData(trace, []);
                for (const { handle } of data.answers.zones.zones.rows.slice(0, 6)) {
                        const location = data.model.locations.find((one) => one.handle === handle).id;
                        const ask = (options) => inPages('zoneOfFile')(data.model, data.answers.zones, data.lanes, { location, from: 0,
                                to: data.model.duration_ns + 1, thread: null, event: 1, longer: 0, shorter: Infinity, groupBy: '',
                                ...options });
                        const lengths = inPages('instancesOf')(data.model, data.lanes, { location, from: 0, to: Infinity, thread: null,
                                longer: 0, shorter: Infinity }).instances.map((one) => one.length).sort((a, b) => a - b);
                        for (const [low, high] of PARTS) {
                                const longer = lengths[Math.floor(low * (lengths.length - 1))] + 1;
                                const shorter = high === 1 ? Infinity : lengths[Math.floor(high * (lengths.length - 1))] + 1;
                                const from = Math.round(data.model.duration_ns * 0.3);
                                for (const range of [{}, { from }]) {
                                        const result = spawnSync(process.env.HYPROF, ['report', '--zone', handle, '--json', '--longer-than',
                                                longer + 'ns', ...(high === 1 ? [] : ['--shorter-than', shorter + 'ns']),
                                                ...(range.from ? ['--from', range.from + 'ns'] : []), trace], { maxBuffer: 1 << 28 });
                                        if (result.status !== 0 || JSON.parse(result.stdout).count === 0)
                                                continue;
                                        const wanted = JSON.parse(result.stdout);
                                        const found = ask({ longer, shorter, ...range });
                                        const words = `${path.basename(trace)} ${handle} ${longer} to ${shorter} from ${range.from}`;
                                        for (const key of OF_INSTANCES)
                                                assert.strictEqual(found[key], wanted[key], words + ': ' + key);
                                        for (const key of ['p50_ns', 'p90_ns', 'p99_ns'])
                                                assert.ok(Math.abs(found[key] - wanted[key]) <= wanted[key] * 0.05 + 20, words + key);
                                        const slow = (one) => one.slowest.rows.slice(0, 5).map((row) => row.duration_ns).join();
                                        assert.strictEqual(slow(found), slow(wanted), words);
                                        const [first, theirs] = [found.slowest.rows[0], wanted.slowest.rows[0]];
                                        for (const key of OF_SLOWEST)
                                                assert.strictEqual(first[key], theirs[key], words + ': ' + key);
                                        assert.strictEqual(found.distribution.rows.reduce((sum, bin) => sum + bin.count, 0), found.count);
                                        n++;
                                }
                        }
                        for (const groupBy of ['thread', 'parent']) {
                                const asked = ['report', '--zone', handle, '--json', '--limit', '0', '--group-by', groupBy, trace];
                                const wanted = JSON.parse(spawnSync(process.env.HYPROF, asked, { maxBuffer: 1 << 28 }).stdout).groups.rows;
                                const found = new Map(ask({ groupBy }).groups.rows.map((row) => [row.handle, row]));
                                assert.strictEqual(found.size, wanted.length);
                                for (const row of wanted)
                                        for (const key of ['count', 'total_ns', 'max_ns'])
                                                assert.strictEqual(found.get(row.handle)[key], row[key], `${handle} by ${groupBy}: ${key}`);
                        }
                }
        }
        assert.ok(n > 20, 'only ' + n + ' parts were compared');
});

test('where short items are merged, only the longest are counted, and it is said', () => {
        const data = new PageData(traces[1], []);
        const [row] = data.answers.zones.zones.rows.filter((one) => one.count > 1000);
        // As lanes of a file with items of up to 4 ms merged.
        const merged = new Map([...data.lanes].map(([id, lane]) => [id, () => lane().isPoints ? lane()
                : inPages('foldLane')(lane(), 0, data.model.duration_ns + 1, 22)]));
        const found = inPages('zoneOfFile')(data.model, data.answers.zones, merged, { location: data.model.locations.find((one) =>
                one.handle === row.handle).id, from: 0, to: Infinity, thread: null, event: 1, longer: 0, shorter: Infinity, groupBy: '' });
        assert.match(found.warnings[0], /^[\d,]+ short items of the rows are merged in this file/);
        assert.ok(found.count < row.count && found.max_ns === row.max_ns);
});

test('sums of a file from which something was dropped are marked approximate', () => {
        const data = new PageData(traces[0], []);
        data.model.file.dropped.push('zones shorter than 12 us are merged');
        const range = { from: 0, to: data.model.duration_ns + 1, thread: null, event: 1 };
        for (const question of ['functions', 'zones']) {
                assert.match(data.answer(question, range).warnings[0], /approximate: zones shorter than 12 us/);
        }
});

test('stacks that lead in circles end', () => {
        const circle = inPages('(stacks) => new StackFunctions(stacks).of(2)')({ stacks: [[2, 1], [1, 1]], frames: [[0]] });
        assert.ok(circle.length <= 2);
});
