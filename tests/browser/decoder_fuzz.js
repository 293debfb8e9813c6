// SPDX-License-Identifier: MIT
// The pages' decoders take any bytes, or refuse them with words, in bounded time: lanes and samples of a file, lanes of the
// server, launches, the address.  HYPROF_MUTANTS (3000) and SEED (1) in the environment choose how many inputs, and which.
'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { loadPages } = require('./loaded_pages.js');
const { FixedRandom, ColumnWriter, encodeFileLanes } = require('./fake_trace.js');

const N_MUTANTS = Number(process.env.HYPROF_MUTANTS || 3000);
const SEED = Number(process.env.SEED || 1);
/** One input takes a millisecond; a loop without an end takes longer than any busy machine. */
const LIMIT_MS = 60000;
const REFUSALS = /^(the lanes are cut off|these are not lanes of a version that this page reads)$/;
const WORDS = [0, 1, 2, 7, 63, 64, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff, 0x4c545948, 0x4e4c5948, 0x50535948];
const DOUBLES = [0, -0, 1, -1, 0.5, 2 ** 53, 2 ** 53 + 2, 2 ** 64, 1e300, -1e300, Infinity, -Infinity, NaN];
const inPages = loadPages();
const scope = inPages('globalThis');

class Input {
        constructor(seed) {
                this.random = new FixedRandom(seed * 7919 + 1);
                for (let i = 0; i < 8; i++) {
                        this.random.next();
                }
        }

        below(n) {
                return this.random.below(n);
        }

        pick(list) {
                return list[this.below(list.length)];
        }

        time() {
                return this.below(20) === 0 ? Math.abs(this.pick(DOUBLES)) || 0 : this.below(2 ** this.below(40));
        }

        lanes() {
                const make = { spans: () => [this.time(), this.time(), this.below(9)], points: () => [this.time(), this.pick(DOUBLES)] };
                return Array.from({ length: this.below(4) }, (_, i) => {
                        const kind = this.pick(['spans', 'points']);
                        const things = Array.from({ length: this.below(12) }, make[kind]).sort((a, b) => a[0] - b[0]);
                        return { id: i + 1, [kind]: kind === 'spans' ? things.map(([begin, length, what]) => [begin, begin + length, what])
                                : things };
                });
        }

        /** A reply of the server to /lanes. */
        served() {
                const writer = new ColumnWriter();
                const nLanes = this.below(4);
                writer.words([0x4c545948, 1]);
                writer.words([nLanes, 0]);
                for (let i = 0; i < nLanes; i++) {
                        const isPoints = this.below(2);
                        const n = this.below(5);
                        writer.words([i + 1, isPoints, n, this.below(64)]);
                        for (let k = 0; k < 4 + isPoints; k++) {
                                writer.doubles(Array.from({ length: n }, () => this.time()));
                        }
                        for (let k = 0; k < 2 - isPoints; k++) {
                                writer.words(Array.from({ length: n }, () => this.pick(WORDS)));
                        }
                }
                return writer.done();
        }

        samples() {
                const writer = new ColumnWriter();
                const n = this.below(8);
                const nEscapes = this.below(4);
                writer.words([0x50535948, 1]);
                writer.words([n, nEscapes]);
                writer.doubles(Array.from({ length: nEscapes }, () => this.pick(DOUBLES)));
                for (let k = 0; k < 5; k++) {
                        writer.words(Array.from({ length: n }, () => this.pick([...WORDS, 1, 2, 3, 4])));
                }
                return writer.done();
        }

        /** The bytes with some changed, or cut off; a third of them is as it was. */
        mutate(bytes) {
                let view = Buffer.from(bytes);
                for (let n = Math.max(0, this.below(6) - 2); n > 0 && view.length > 0; n--) {
                        const kind = this.below(5);
                        if (kind === 0) {
                                view = view.subarray(0, this.below(view.length + 1));
                        } else if (kind === 1) {
                                view[this.below(view.length)] = this.below(256);
                        } else if (kind < 4 && view.length >= 4) {
                                view.writeUInt32LE(this.pick(WORDS), 4 * this.below(view.length >> 2));
                        } else if (view.length >= 8) {
                                view.writeDoubleLE(this.pick(DOUBLES), 8 * this.below(view.length >> 3));
                        }
                }
                return view.buffer.slice(view.byteOffset, view.byteOffset + view.length);
        }

        view() {
                const from = Math.floor(this.time());
                return { from, to: from + 1 + this.below(2 ** 30), bucketLog2: this.below(40) };
        }
}

/** Evaluates an expression about `input`; what it throws must be a refusal in words. */
function tryInput(expression, input, what) {
        scope.input = input;
        try {
                return inPages(expression, { timeout: LIMIT_MS });
        } catch (error) {
                assert.match(error.message, REFUSALS, what + ': ' + error.stack);
                return null;
        }
}

function eachInput(action) {
        for (let i = 0; i < N_MUTANTS; i++) {
                action(new Input(SEED * 1000003 + i), 'SEED=' + SEED + ', input ' + i);
        }
}

test('lanes of a file: decoded, folded for any view, searched for the next and the previous span', () => {
        let nDecoded = 0;
        eachInput((input, what) => {
                const given = { bytes: input.mutate(encodeFileLanes(input.lanes())), ...input.view(), at: input.time() };
                const lengths = tryInput(`(({ bytes, from, to, bucketLog2, at }) => [...decodeFileLanes(bytes).values()].map((make) => {
                        const lane = make();
                        const items = foldLane(lane, from, to, bucketLog2);
                        findInLane(lane, at, 'next', 1);
                        findInLane(lane, at, 'previous', null);
                        return [lane.n, items.n, items.begin.length, items.count.length, faultOfItems(items, 1e300)];
                }))(input)`, given, what);
                for (const [n, nItems, nBegins, nCounts, fault] of lengths || []) {
                        nDecoded++;
                        assert.ok(nItems <= n && (fault || (nItems === nBegins && nItems === nCounts)), what);
                }
        });
        assert.ok(nDecoded > N_MUTANTS / 4, nDecoded + ' lanes were decoded');
});

test('points beyond 2^53 ns, where the next number is two more, end the loops of a page all the same', () => {
        const bytes = encodeFileLanes([{ id: 1, points: [[2 ** 53 + 2, 1], [2 ** 53 + 4, 2], [1e300, 3]] }]);
        const n = tryInput('foldLane([...decodeFileLanes(input).values()][0](), 0, 2 ** 1000, 0).n',
                bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), 'points');
        assert.strictEqual(n, 3);
});

test('lanes of the server: decoded, and judged', () => {
        let nDecoded = 0;
        eachInput((input, what) => {
                const lanes = tryInput(`[...decodeLanes(input).values()].map((items) => [items.n, items.begin.length,
                        items.count.length, typeof faultOfItems(items, 1e9)])`, input.mutate(input.served()), what);
                for (const [n, nBegins, nCounts] of lanes || []) {
                        nDecoded++;
                        assert.ok(n === nBegins && n === nCounts, what);
                }
        });
        assert.ok(nDecoded > N_MUTANTS / 4, nDecoded + ' lanes were decoded');
});

test('samples of a file, and stacks that lead anywhere', () => {
        let nDecoded = 0;
        eachInput((input, what) => {
                const id = () => input.pick([0, 1, 2, 3, 4, 9, -1, 0.5, 1e300]);
                const stacks = Array.from({ length: input.below(5) }, () => [id(), id()]);
                const given = { bytes: input.mutate(input.samples()), stacks: { stacks, frames: [[0], [1, 0], []] } };
                const counts = tryInput(`(({ bytes, stacks }) => {
                        const samples = decodeFileSamples(bytes);
                        const functions = new StackFunctions(stacks);
                        return [samples.n, samples.time.length, Array.from(samples.stack, (one) => functions.of(one).length)];
                })(input)`, given, what);
                if (counts) {
                        nDecoded++;
                        assert.ok(counts[0] === counts[1] && counts[2].every((n) => n <= 2 * stacks.length), what);
                }
        });
        assert.ok(nDecoded > N_MUTANTS / 4, nDecoded + ' were decoded');
});

test('launches: numbers in any number', () => {
        eachInput((input, what) => {
                const numbers = Array.from({ length: input.below(20) }, () => input.pick([1, 2, 3, -1, 1e300, null, 'x']));
                const found = tryInput('(({ n, ends }) => [n, ends.length])(new FileLaunches(input).of({ id: 1 }, 2, 3))', numbers, what);
                assert.ok(found[0] >= found[1] && found[1] <= 64, what);
        });
});

test('an address of any words gives a choice that makes the same address again', () => {
        const parts = ['g', 'i', 'F', 'e', '0', 'pthread-3', 'fprocess-1', 'mcpu-2-5_5', 'f~lanes%3A1', 'p~%', 'p~%ZZ', '', '.', '~',
                'f~%2E', 'f~x\ud800y', 'm', 'mcpu-2-', 'p__proto__-1', 'view_from=1', '&', '=', '%', '\u0000', '\ud800'];
        eachInput((input, what) => {
                const text = Array.from({ length: input.below(12) }, () => input.pick(parts)).join(input.pick(['.', '&', '']));
                const words = tryInput(`(() => {
                        const choice = {};
                        Viewer.parse('#' + input);
                        choiceOfRows(choice, input);
                        const rows = rowsOfChoice(choice);
                        choiceOfRows(choice, rows);
                        return [rows, rowsOfChoice(choice)];
                })()`, text, what);
                assert.strictEqual(words[1], words[0], what);
        });
});
