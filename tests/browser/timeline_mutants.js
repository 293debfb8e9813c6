// SPDX-License-Identifier: MIT
// Nothing blanks the timeline: models and lanes are changed at random, and each time all tracks that were not changed are
// drawn, and a row that cannot be says so.  HYPROF_MUTANTS (40) and SEED (1) in the environment choose how many, and which.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { FakeTrace, FixedRandom } = require('./fake_trace.js');
const { makePage } = require('./make_page.js');

const N_MUTANTS = Number(process.env.HYPROF_MUTANTS || 40);
const SEED = Number(process.env.SEED || 1);
const MUTANTS_A_PAGE = 50;
const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-mutants-'));
const trace = new FakeTrace({ nFrames: 40 });
const VALUES = [null, undefined, '', 0, -1, 0.5, 4294967296, 1e300, true, {}, [], [null], 'x'.repeat(3000), '\u0000', '<b>'];
/** In typed arrays; JSON has no NaN and no Infinity. */
const NUMBERS = [-1, 0, 1e300, 4294967295, 'NaN', 'Infinity'];
const COLUMNS = ['begin', 'end', 'longestBegin', 'longestNs', 'what', 'count', 'values', 'min', 'max', 'last'];
/** With these changed the view itself is another one. */
const VIEW_KEYS = ['duration_ns', 'progress', 'is_live', 'tracks'];
let browser;

class Mutator {
        constructor(seed) {
                this.random = new FixedRandom(seed * 7919 + 1);
                for (let i = 0; i < 8; i++) {
                        this.random.next();
                }
        }

        pick(list) {
                return list[this.random.below(list.length)];
        }

        /** Changes a member of an object, or takes it away. */
        change(object, key) {
                const value = this.pick(VALUES);
                if (value === undefined) {
                        delete object[key];
                } else {
                        object[key] = value;
                }
        }

        /** One more change of a mutant. */
        mutate(mutant) {
                const { model } = mutant;
                const kind = this.random.below(10);
                if (kind === 0) {
                        const key = this.pick(Object.keys(model).filter((name) => name !== 'file'));
                        mutant.isWhole = mutant.isWhole && !VIEW_KEYS.includes(key);
                        this.change(model, key);
                } else if (kind < 4) {
                        const list = model[this.pick(['threads', 'processes', 'locations', 'functions', 'wait_states'])];
                        if (Array.isArray(list) && list.length > 0) {
                                const at = this.random.below(list.length);
                                const one = list[at];
                                if (one === null || typeof one !== 'object' || this.random.below(5) === 0) {
                                        this.change(list, at);
                                } else {
                                        this.change(one, this.pick(Object.keys(one)) ?? 'name');
                                }
                        }
                } else if (kind < 8 && Array.isArray(model.tracks)) {
                        this.mutateTrack(mutant);
                } else {
                        const lane = this.pick(trace.lanes);
                        mutant.touched.push(trace.tracks.findIndex((track) => track.lanes.some((one) => one.id === lane.id)));
                        mutant.lanes.push(this.random.below(4) === 0 ? { id: lane.id, throws: true } : { id: lane.id,
                                column: this.pick(COLUMNS), at: this.random.next(), value: this.pick(NUMBERS) });
                }
        }

        mutateTrack(mutant) {
                const { tracks } = mutant.model;
                const at = this.random.below(tracks.length);
                const track = tracks[at];
                mutant.touched.push(at);
                if (track === null || typeof track !== 'object' || this.random.below(8) === 0) {
                        const value = this.pick(VALUES);
                        tracks[at] = value === undefined ? null : value;
                } else if (Array.isArray(track.lanes) && track.lanes.length > 0 && this.random.below(2) === 0) {
                        const lane = this.pick(track.lanes);
                        if (lane === null || typeof lane !== 'object' || this.random.below(5) === 0) {
                                this.change(track.lanes, this.random.below(track.lanes.length));
                        } else {
                                this.change(lane, this.pick(Object.keys(lane)) ?? 'kind');
                        }
                } else {
                        this.change(track, this.pick(Object.keys(track)) ?? 'lanes');
                }
        }

        mutant() {
                const mutant = { model: JSON.parse(JSON.stringify(trace.model())), lanes: [], touched: [], isWhole: true };
                for (let n = 1 + this.random.below(4); n > 0; n--) {
                        this.mutate(mutant);
                }
                return mutant;
        }
}

/** In the page: draws a model with some lanes changed; returns what is wrong, and the ids of lanes that have pixels. */
async function drawMutant({ model, lanes, breaks }) {
        const module = (name) => pageModules[name];
        const { FileSource } = module('source_file.js');
        const { Viewer } = module('viewer.js');
        const { TraceModel } = module('model.js');
        const { AXIS_PX } = module('timeline_paint.js');
        const wrong = [];
        const file = new FileSource();
        const whole = new Map(await file.allLanes());
        /* A lane that fails has no items to change. */
        for (const change of lanes.filter((one) => one.throws || !lanes.some((other) => other.throws && other.id === one.id))) {
                const lane = change.throws ? {} : { ...whole.get(change.id)() };
                if (!change.throws && lane[change.column].length > 0) {
                        lane[change.column] = lane[change.column].slice();
                        lane[change.column][Math.floor(change.at * lane[change.column].length)] = Number(change.value);
                }
                whole.set(change.id, () => {
                        if (change.throws) {
                                throw new Error('made to fail');
                        }
                        return lane;
                });
        }
        file.wholeLanes = Promise.resolve(whole);
        file.recall = () => null;
        const viewer = new Viewer(file, new TraceModel(model));
        viewer.on('failure', (error) => wrong.push(error.message));
        const { TimelineScreen } = module('screen_timeline.js');
        const screen = new TimelineScreen(viewer);
        const fail = () => {
                throw new Error('made to fail');
        };
        if (breaks === 'names of zones') {
                viewer.model.locationName = fail;
        } else if (breaks === 'arrows') {
                screen.arrows.paint = fail;
        }
        document.getElementById('main').replaceChildren(screen.element);
        screen.show(viewer.state);
        for (const end = performance.now() + 60000; performance.now() < end;) {
                await new Promise((resolve) => requestAnimationFrame(resolve));
                if (!screen.isDrawAsked && !screen.cache.isFetching && !screen.cache.wanted && !screen.overview.isAsked) {
                        break;
                }
        }
        const { width, height } = screen.canvas;
        const pixels = new Uint32Array(screen.canvas.getContext('2d').getImageData(0, 0, width, height).data.buffer);
        const hasPixels = (from, to) => pixels.subarray(from * width, to * width).some((pixel) => pixel !== pixels[from * width]);
        const drawn = screen.layout.rows.flatMap((row) => row.lanes).filter((lane) => hasPixels(Math.round(AXIS_PX + lane.y),
                Math.round(AXIS_PX + lane.y + lane.height))).map((lane) => lane.lane.id);
        if (!hasPixels(4, AXIS_PX - 6)) {
                wrong.push('the axis is blank');
        }
        if (document.querySelectorAll('.timeline-label').length < Math.min(5, screen.layout.rows.length)) {
                wrong.push('the names are blank');
        }
        return { wrong, drawn, rows: screen.layout.rows.map((row) => row.title), faults: screen.layout.rows.filter((row) => row.fault ||
                row.lanes.some((lane) => screen.cache.faultOf(lane.lane.id))).map((row) => row.title) };
}

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

async function withPage(action) {
        const file = path.join(folder, 'page.html');
        fs.writeFileSync(file, makePage(trace.dataElements()));
        const page = await browser.open('file://' + file, { width: 1200, height: 1500 });
        try {
                await page.until('window.hyprofShell', 'the page');
                await page.value(`(globalThis.drawMutant = ${drawMutant}, 1)`);
                await action((mutant) => page.value(`drawMutant(${JSON.stringify(mutant)})`));
                page.noComplaints();
        } finally {
                await page.close();
        }
}

const original = () => ({ model: trace.model(), lanes: [] });

test('an empty name, a name that is null, a track without items and one that fails: the others are drawn', async () => {
        await withPage(async (draw) => {
                const all = await draw(original());
                assert.deepStrictEqual(all.wrong, []);
                assert.deepStrictEqual(all.faults, []);
                const changed = JSON.parse(JSON.stringify(original()));
                const [, main] = changed.model.tracks;
                Object.assign(changed.model.locations[4], { name: '', function: null, place: null });
                delete changed.model.tracks[2].lanes;
                changed.lanes.push({ id: main.lanes[1].id, throws: true });
                const { wrong, drawn, faults } = await draw(changed);
                assert.deepStrictEqual(wrong, []);
                assert.deepStrictEqual(faults, ['main 4242', 'worker 1 4243']);
                const lost = [main.lanes[1], ...trace.tracks[2].lanes].map((lane) => lane.id);
                assert.deepStrictEqual(all.drawn.filter((id) => !drawn.includes(id) && !lost.includes(id)), []);
        });
});

test('a part that throws takes no other with it, items out of range and lanes of another form are said', async () => {
        const without = (all, drawn, kind) => all.drawn.filter((id) => !drawn.includes(id) &&
                !trace.tracks.some((track) => track.lanes.some((lane) => lane.id === id && lane.kind === kind)));
        await withPage(async (draw) => {
                const all = await draw(original());
                const names = await draw({ ...original(), breaks: 'names of zones' });
                assert.deepStrictEqual(names.wrong, []);
                assert.deepStrictEqual(without(all, names.drawn, 'zones'), [], 'all but zones');
                const arrows = await draw({ ...original(), breaks: 'arrows' });
                assert.deepStrictEqual(arrows.wrong, ['a part of the timeline cannot be drawn: made to fail'], 'said once');
                assert.deepStrictEqual(without(all, arrows.drawn), []);
                const [, main] = trace.tracks;
                const outside = await draw({ ...original(), lanes: [{ id: main.lanes[0].id, column: 'begin', at: 0, value: -1 }] });
                assert.deepStrictEqual([outside.wrong, outside.faults], [[], ['main 4242']]);
                const colored = JSON.parse(JSON.stringify(original()));
                colored.model.locations.forEach((location) => Object.assign(location, { color: -1 })); // no white on white
                assert.deepStrictEqual(without(all, (await draw(colored)).drawn), []);
                for (const change of [{ id: null }, { kind: 7 }, { depth: -1 }, { items: 'x' }]) {
                        const mutant = JSON.parse(JSON.stringify(original()));
                        Object.assign(mutant.model.tracks[1].lanes[0], change);
                        const { wrong, faults } = await draw(mutant);
                        assert.deepStrictEqual([wrong, faults], [[], ['main 4242']], JSON.stringify(change));
                }
        });
});

test(N_MUTANTS + ' changed models and lanes: what was not changed is drawn', async (t) => {
        const mutator = new Mutator(SEED);
        let nFaulty = 0;
        /* The browser keeps the canvases of a page as long as the page. */
        for (let first = 0; first < N_MUTANTS; first += MUTANTS_A_PAGE) {
                await withPage(async (draw) => {
                        const all = await draw(original());
                        for (let i = first; i < Math.min(N_MUTANTS, first + MUTANTS_A_PAGE); i++) {
                                const mutant = mutator.mutant();
                                const { wrong, drawn, faults } = await draw(mutant);
                                const kept = trace.tracks.flatMap((track, at) => mutant.touched.includes(at) ? []
                                        : track.lanes.map((lane) => lane.id));
                                const lost = mutant.isWhole ? kept.filter((id) => all.drawn.includes(id) && !drawn.includes(id)) : [];
                                nFaulty += faults.length > 0;
                                if (wrong.length > 0 || lost.length > 0) {
                                        fs.writeFileSync(path.join(os.tmpdir(), 'hyprof-mutant.json'), JSON.stringify(mutant));
                                }
                                assert.deepStrictEqual({ i, wrong, lost }, { i, wrong: [], lost: [] });
                        }
                });
        }
        t.diagnostic(nFaulty + ' of ' + N_MUTANTS + ' had a row that says what is wrong');
});
