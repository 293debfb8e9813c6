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
