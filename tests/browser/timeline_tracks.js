// SPDX-License-Identifier: MIT
// Many tracks in order: a filter by name and glob, sorts, all folded, those with nothing in the view hidden; of 10,000 threads
// one is reached by typing its name and Enter; the address has all of it.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { FakeTrace } = require('./fake_trace.js');
const { makePage } = require('./make_page.js');

const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-tracks-'));
const timeline = 'hyprofShell.made.get("timeline")';
const MANY = 10000;
let browser;

/** Threads of two processes with one zone each: [name, process, begin, end]. */
class ThreadsTrace extends FakeTrace {
        constructor(rows) {
                super();
                Object.assign(this, { nLanes: 0, tracks: [], lanes: [], threads: [], strings: [] });
                rows.forEach(([name, process, begin, end], i) => {
                        const id = i + 1;
                        this.threads.push({ id, handle: 't' + id, process, tid: 4242 + i, name, is_fiber: false });
                        const track = this.track('thread', name, id);
                        track.process = process;
                        this.lane(track, 'states', 0, { spans: [[begin, end, (1 << 28) >>> 0]] });
                        this.lane(track, 'zones', 0, { spans: [[begin, end, 1 + i % 9]] });
                        track.lanes.forEach((lane) => Object.assign(lane, { first_ns: begin, last_ns: end }));
                });
        }

        build() {}

        /** Without the row of CPUs. */
        model() {
                return { ...super.model(), n_cpus: 0 };
        }

        answers() {
                const rows = this.threads.map(({ handle }, i) => ({ handle, on_cpu_ns: [5, 40, 30, 20, 10, 1][i] ?? 0,
                        preempted_ns: [0, 1, 2, 3, 9, 5][i] ?? 0 }));
                return { threads: { schema: 'hyprof.threads/2', threads: { rows } } };
        }
}

const few = new ThreadsTrace([['game', 1, 1e6, 9e8], ['runner 10', 1, 5e8, 6e8], ['runner 1', 1, 4e8, 6e8], ['runner 2', 1, 2e6, 3e6],
        ['dispatcher', 1, 3e8, 4e8], ['cc', 2, 1e8, 2e8]]);
/** A build: processes of one thread each, two at a time, and three of another name; one of the name lives for long. */
class BuildTrace extends ThreadsTrace {
        constructor() {
                super([['game', 1, 1e6, 3.9e9], ['dispatcher', 1, 3e8, 4e8], ['cc', 2, 1e8, 3.8e9]]);
                this.processes = [{ id: 1, pid: 4242, name: 'game' }, { id: 2, pid: 4300, name: 'helper' }];
                for (let i = 0; i < 41; i++) {
                        const id = 10 + i;
                        const name = i < 38 ? 'cc' : 'as';
                        const begin = (i >> 1) * 2e7 + (i % 2) * 1e6;
                        this.processes.push({ id, pid: 5000 + i, name });
                        this.threads.push({ id, handle: 't' + id, process: id, tid: 5000 + i, name, is_fiber: false });
                        const track = this.track('thread', name, id);
                        track.process = id;
                        this.lane(track, 'states', 0, { spans: [[begin, begin + 1.5e7, (1 << 28) >>> 0]] });
                        this.lane(track, 'zones', 0, { spans: [[begin, begin + 1e7, 1 + i % 9]] });
                        track.lanes.forEach((lane) => Object.assign(lane, { first_ns: begin, last_ns: begin + 1.5e7 }));
                }
        }

        model() {
                return { ...super.model(), processes: this.processes };
        }
}

const build = new BuildTrace();
const many = new ThreadsTrace(Array.from({ length: MANY }, (_, i) => ['w' + String(i).padStart(5, '0'), 1, 1e6 + i * 1e4, 5e6 + i * 1e4]));

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

async function withPage(trace, fragment, action) {
        const file = path.join(folder, trace.threads.length + '.html');
        if (!fs.existsSync(file)) {
                fs.writeFileSync(file, makePage(trace.dataElements(trace.answers())));
        }
        const page = await browser.open('file://' + file + fragment);
        try {
                await page.until('window.hyprofShell && ' + timeline, 'the timeline');
                await action(page);
                page.noComplaints();
        } finally {
                await page.value('localStorage.clear()');
                await page.close();
        }
}

const titles = timeline + '.layout.rows.filter((row) => row.track).map((row) => row.track.title).join()';

async function filter(page, text) {
        await page.value('document.querySelector(".timeline-filter").select(), document.querySelector(".timeline-filter").focus()');
        await page.call('Input.insertText', { text });
}

test('threads are in natural order, the main thread first; a name, a glob and parts filter', async () => {
        await withPage(few, '', async (page) => {
                assert.strictEqual(await page.value(titles), 'game,dispatcher,runner 1,runner 2,runner 10,cc');
                for (const [text, expected] of [['RUNNER', 'runner 1,runner 2,runner 10'], ['runner ?', 'runner 1,runner 2'],
                        ['dis, cc', 'dispatcher,cc'], ['helper', 'cc'], ['a.b(', '']]) {
                        await filter(page, text);
                        await page.until(`${titles} === ${JSON.stringify(expected)}`, text + ': ' + expected);
                }
                await page.untilText('.timeline-tracks', /0 of 6 tracks/);
                await page.press('Escape');
                await page.until(`${titles} === 'game,dispatcher,runner 1,runner 2,runner 10,cc'`);
        });
});

const fillOf = (name, title) => `${timeline}.zonePaint.colorOf(${JSON.stringify(name)}, null, ${JSON.stringify(title)}, false).fill`;

test('zones have the colours of their names, of their threads, or a person\'s own; the address has it', async () => {
        await withPage(few, '', async (page) => {
                const byName = await page.value(fillOf('kernel', 'game'));
                const choose = (value) => page.value(`(() => { const list = document.querySelector('.timeline-paint select');
                        list.value = ${JSON.stringify(value)}; list.dispatchEvent(new Event('change')); })()`);

                assert.strictEqual(await page.value(fillOf('kernel', 'cc')), byName, 'whatever the thread');
                await choose('thread');
                await page.until('location.hash.includes("paint=thread")');
                const byThread = await page.value(fillOf('kernel', 'game'));
                assert.strictEqual(await page.value(fillOf('other', 'game')), byThread, 'whatever the name');
                assert.notStrictEqual(await page.value(fillOf('kernel', 'cc')), byThread);
                await choose('rules');
                await page.until('!document.querySelector(".timeline-paint input").hidden');
                await choose('');
                await page.until('!location.hash.includes("paint=")');
                assert.strictEqual(await page.value(fillOf('kernel', 'game')), byName);
        });
        await withPage(few, '#paint=' + encodeURIComponent('wait*=#112233, no rule, ker?el=#445566, *=red'), async (page) => {
                assert.strictEqual(await page.value(fillOf('wait for it', 'game')), '#112233');
                assert.strictEqual(await page.value(fillOf('kernel', 'game')), '#445566');
                assert.notStrictEqual(await page.value(fillOf('other', 'game')), '#ff0000',
                        'a rule without a hexadecimal color is ignored');
                assert.match(await page.value('document.querySelector(".timeline-paint input").value'), /^wait/);
        });
});

test('sorts by CPU time, first activity and time preempted', async () => {
        for (const [sort, expected] of [['cpu', 'runner 10,runner 1,runner 2,dispatcher,game,cc'],
                ['first', 'game,runner 2,dispatcher,runner 1,runner 10,cc'], ['late', 'dispatcher,runner 2,runner 1,runner 10,game,cc'],
                ['no such', 'game,dispatcher,runner 1,runner 2,runner 10,cc']]) {
                await withPage(few, '#sort=' + encodeURIComponent(sort), async (page) => {
                        await page.until(`${titles} === ${JSON.stringify(expected)}`, sort + ': ' + expected);
                });
        }
});

/** Two processes with threads of these numbers of samples. */
class BusyTrace extends ThreadsTrace {
        constructor(samples) {
                super(samples.map((_, i) => [i === 0 ? 'game' : 'w' + i, i < 3 ? 1 : 2, 1e6, 9e8]));
                this.tracks.forEach((track, i) => this.lane(track, 'samples', 0, { spans: Array.from({ length: samples[i] },
                        (_, at) => [2e6 + at * 1e6, 2e6 + at * 1e6, 1]) }));
        }
}

const BUSY = [1, 3, 2, 1, 30, 2, 4, 5, 6, 7, 8, 9, 20];

test('of many threads the busiest are seen first, and the address says so; an address without an order has that of names', async () => {
        const byName = 'game,w1,w2,w3,w4,w5,w6,w7,w8,w9,w10,w11,w12';
        const busiest = 'w4,w12,w11,w10,w9,w8,w7,w6,w5,w3,w1,w2,game';
        const order = 'document.querySelector("select[aria-label=\'order of tracks\']")';
        const choose = (value) => `(() => { ${order}.value = ${JSON.stringify(value)}; ${order}.dispatchEvent(new Event("change")); })()`;

        await withPage(new BusyTrace(BUSY), '', async (page) => {
                await page.until(`${titles} === ${JSON.stringify(busiest)}`, 'the hot thread first');
                await page.until('location.hash === "#sort=busy" && ' + order + '.value === "busy"');
                await page.value(choose(''));
                await page.until(`${titles} === ${JSON.stringify(byName)} && location.hash === "#sort=name"`, 'as the address says');
                await page.value(choose('busy'));
                await page.until(`${titles} === ${JSON.stringify(busiest)}`);
                /* A thread that is moved stays where it was put, among the others as they stood. */
                await page.until(`!${timeline}.isDrawAsked && (() => {
                        const names = [...document.querySelectorAll('.timeline-name.track')];
                        names[1].focus();
                        return /w4 /.test(names[0].innerText) && /w12 /.test(names[1].innerText) && document.activeElement === names[1];
                })()`, 'the name of w12');
                await page.press('Alt+ArrowUp');
                await page.until(`${titles} === 'game,w1,w2,w12,w4,w11,w10,w9,w8,w7,w6,w5,w3' && ${order}.value === ''`, 'w12 moved up');
        });
        await withPage(new BusyTrace(BUSY), '#view_from=0&view_to=500000000', async (page) => {
                await page.until(`${titles} === ${JSON.stringify(byName)} && ${order}.value === ''`, 'as before');
        });
        await withPage(new BusyTrace(BUSY.slice(0, 12)), '', async (page) => {
                await page.until(`${titles} === ${JSON.stringify(byName.replace(',w12', ''))}`, 'few threads');
                assert.strictEqual(await page.value('location.hash'), '');
        });
});

const heights = (kind) => `[...new Set(${timeline}.layout.rows.flatMap((row) => row.lanes)
        .filter((lane) => lane.lane.kind === ${JSON.stringify(kind)}).map((lane) => lane.height))].join()`;

test('lanes grow where the window has room, to twice their height; states do not, and a panel that opens moves none', async () => {
        await withPage(few, '', async (page) => {
                const fits = timeline + '.layout.height <= ' + timeline + '.scroll.clientHeight';

                await page.resize(1400, 420);
                await page.until(`${heights('zones')} === '19' && !(${fits})`, 'no room: as high as always');
                await page.resize(1400, 1700);
                await page.until(`${heights('zones')} === '38' && ${fits}`, 'twice as high');
                assert.strictEqual(await page.value(heights('states')), '16');
                await page.resize(1400, 640);
                await page.until(`(({ layout, scroll }) => layout.height <= scroll.clientHeight &&
                        [19, 24, 29, 33].includes(Number(${heights('zones')})))(${timeline})`, 'as high as there is room');
                await page.resize(390, 844);
                await page.until(timeline + '.fit.windowTall === 844 && !' + timeline + '.isDrawAsked');
                const before = await page.value(timeline + '.layout.height');
                await page.value(`${timeline}.chooseFound(${timeline}.layout.rows.at(-1).lanes.at(-1).lane.id,
                        { begin_ns: 1e8, end_ns: 2e8, what: 1 })`);
                await page.until('!document.querySelector(".panel").hidden && document.querySelector(".panel h2")', 'the panel');
                assert.strictEqual(await page.value(timeline + '.layout.height'), before);
        });
});

test('all are folded and opened at once; what has nothing in the view is hidden; the address has both', async () => {
        let hash;
        await withPage(few, '#view_from=350000000&view_to=450000000', async (page) => {
                await page.click('.timeline-tracks button', 'Hide empty');
                await page.until(`${titles} === 'game,dispatcher,runner 1'`);
                await page.value(`${timeline}.showRange(5.1e8, 5.2e8)`);
                await page.until(`${titles} === 'game,runner 1,runner 10'`);
                await page.click('.timeline-tracks button', 'Hide empty');
                await page.click('.timeline-tracks button', 'Fold all');
                await page.until(`${timeline}.layout.rows.length === 2 && ${timeline}.layout.rows.every((row) => !row.isOpen)`);
                await page.click('.timeline-name', '▸ game 4242 (5 not shown)');
                await page.until(`${titles} === 'game,dispatcher,runner 1,runner 2,runner 10,cc'`);
                await page.until('/rows=/.test(location.hash)');
                hash = await page.value('location.hash');
        });
        await withPage(few, hash, async (page) => {
                assert.strictEqual(await page.value(titles), 'game,dispatcher,runner 1,runner 2,runner 10,cc');
                assert.ok(await page.value(`${timeline}.layout.rows.filter((row) => row.track).every((row) => !row.isOpen)`));
                await page.click('.timeline-tracks button', 'Fold all');
                await page.until(`${timeline}.layout.rows.every((row) => row.isOpen)`);
        });
});

const shown = timeline + '.layout.rows.map((row) => row.title).join()';
const PROGRAM = 'game 4242,game 4242,dispatcher 4243';

test('a process of one thread has one row; short processes of one name are one row, with their lanes inside', async () => {
        await withPage(build, '', async (page) => {
                const folded = PROGRAM + ',helper 4300: cc 4244,38 processes of cc,as 5038,as 5039,as 5040';
                assert.strictEqual(await page.value(shown), folded);
                const row = timeline + '.layout.rows.find((row) => row.title === "38 processes of cc")';
                assert.strictEqual(await page.value(row + '.note'), 'at most 2 at a time');
                assert.deepStrictEqual(await page.value(`[new Set(${row}.lanes.map((l) => l.y)).size, ${row}.lanes.length]`), [2, 38]);
                /* The pointer finds each of the processes that follow each other in one strip. */
                const at = await page.value(`((row) => { const t = ${timeline}, box = t.canvas.getBoundingClientRect();
                        const { lane, y } = row.lanes.find((l) => l.lane.first_ns === 3.2e8);
                        return { x: box.x + (3.21e8 - t.from) / (t.to - t.from) * box.width, y: box.y + y + 28 - t.scroll.scrollTop,
                                id: lane.id }; })(${row})`);
                await page.until(`${timeline}.cache.best(${at.id}, 0, 1e9, 20)`, 'its lane');
                await page.clickAt(at.x, at.y);
                await page.until(`${timeline}.chosen?.lane.lane.id === ${at.id}`, 'the chosen process');
                await page.click('.timeline-name', '▸ 38 processes of cc');
                await page.until(`${timeline}.layout.rows.filter((row) => /^cc \\d+$/.test(row.title)).length === 38`);
                await page.until('/rows=/.test(location.hash)');
                const hash = await page.value('location.hash');
                await page.click('.timeline-name', '▾ 38 processes of cc');
                await page.until(`${shown} === ${JSON.stringify(folded)}`);
                await filter(page, 'cc 5007');
                await page.until(`${shown} === 'cc 5007'`);
                await page.press('Escape');
                await page.value('location.hash = ' + JSON.stringify(hash));
                await page.until(`${timeline}.layout.rows.length === 46`, 'the address opens the group');
        });
});

test('names keep their numbers on a phone, and a note beside a name is whole, or goes', async () => {
        const note = 'document.querySelector(".timeline-note")';
        const isWhole = (selector) => `[...document.querySelectorAll(${JSON.stringify(selector)})].every((one) =>
                one.scrollWidth <= one.clientWidth)`;

        await withPage(build, '', async (page) => {
                await page.until(`${note}?.innerText === 'at most 2 at a time' && ${isWhole('.timeline-note')}`, 'the note');
                await page.resize(880, 900);
                await page.until(`${note}?.hidden && /, at most 2 at a time$/.test(${note}.previousElementSibling.title)`, 'no room');
        });
        await withPage(new ThreadsTrace(Array.from({ length: 4 }, () => ['python3', 1, 1e6, 9e8])), '', async (page) => {
                await page.resize(390, 844);
                await page.until(`innerWidth === 390 && document.querySelectorAll('.timeline-name.track').length === 4 &&
                        ${isWhole('.timeline-name.track')}`, 'whole names');
        });
        await withPage(new ThreadsTrace(Array.from({ length: 3 }, () => ['ThreadPoolForeground', 1, 1e6, 9e8])), '', async (page) => {
                await page.resize(390, 844);
                await page.until(`innerWidth === 390 && ${isWhole('.timeline-name.track')} && [...document.querySelectorAll(
                        '.timeline-name.track')].map((one) => /^▾ Thr.*… (.*)$/.exec(one.textContent)?.[1]).join() === '4242,4243,4244'`,
                                 'the ends of names without room');
        });
});

test('a name keeps the focus while the keyboard moves its track', async () => {
        await withPage(few, '', async (page) => {
                const name = '[...document.querySelectorAll(".timeline-name.track")].find((one) => /dispatcher/.test(one.textContent))';

                await page.until(name);
                await page.press('Tab');
                await page.value(name + '.focus()');
                for (const expected of ['game,runner 1,dispatcher,runner 2,runner 10,cc',
                        'game,runner 1,runner 2,dispatcher,runner 10,cc']) {
                        await page.press('Alt+ArrowDown');
                        await page.until(`${titles} === ${JSON.stringify(expected)} && document.activeElement === ${name}`, expected);
                }
        });
});

test('a search leads to a thread in a group, which is opened', async () => {
        await withPage(build, '', async (page) => {
                await page.press('/');
                await page.type('cc 5020');
                await page.press('Enter');
                await page.until('document.querySelector(".timeline-label.found")?.innerText.includes("cc 5020")', 'the process in sight');
        });
});

test('what passes the filter is pinned at once, and unpinned', async () => {
        await withPage(few, '', async (page) => {
                await filter(page, 'runner *');
                await page.click('.timeline-tracks button', 'Pin 3');
                await page.until(`${titles} === 'runner 1,runner 2,runner 10,game,dispatcher,cc'`);
                await page.until('/rows=pthread/.test(location.hash) && !/filter=/.test(location.hash)');
                assert.strictEqual(await page.value(`${timeline}.layout.rows.filter((row) => row.isPinned).length`), 3);
                await page.click('.timeline-tracks button', 'Unpin all');
                await page.until(`${titles} === 'game,dispatcher,runner 1,runner 2,runner 10,cc'`);
                await page.until('document.querySelector(".timeline-pins").hidden');
        });
});

/** Threads with samples; the deep functions of the first one are at its begin. */
class GhostTrace extends ThreadsTrace {
        constructor() {
                super([['main', 1, 1e6, 9e8], ['other', 1, 1e6, 9e8]]);
                for (const track of this.tracks) {
                        for (let depth = 0; depth < 12; depth++) {
                                const last = depth < 2 ? 9e8 : 1e8;
                                this.lane(track, 'ghosts', depth, { spans: [[1e6, last, depth % 8]] });
                                Object.assign(track.lanes.at(-1), { first_ns: 1e6, last_ns: last });
                        }
                }
        }
}

test('ghost zones are shown by thread, as high as the view needs, and the address has it', async () => {
        const nGhosts = timeline + '.layout.rows.map((row) => row.lanes.filter((l) => l.lane.kind === "ghosts").length).join()';
        let hash;
        await withPage(new GhostTrace(), '', async (page) => {
                await page.until(`${nGhosts} === '0,0,0'`);
                await page.click('button[aria-label="ghost zones of other 4243"]', 'ƒ');
                await page.until(`${nGhosts} === '0,0,12'`);
                await page.value(`${timeline}.showRange(5e8, 6e8)`);
                await page.until(`${nGhosts} === '0,0,2'`, 'as high as needed');
                await page.press('g');
                await page.until(`${nGhosts} === '0,2,2'`);
                await page.click('button[aria-label="ghost zones of main 4242"]', 'ƒ');
                await page.until(`${nGhosts} === '0,0,2'`);
                await page.until('/rows=g\\.xthread-/.test(location.hash) && /view_from=5/.test(location.hash)');
                hash = await page.value('location.hash');
                await page.press('Home');
                await page.until(`${nGhosts} === '0,0,12'`);
        });
        await withPage(new GhostTrace(), hash, async (page) => {
                await page.until(`${nGhosts} === '0,0,2'`);
        });
});

test('of 10,000 threads one is reached by typing its name and Enter, in the search and in the filter', async () => {
        await withPage(many, '', async (page) => {
                await page.press('/');
                await page.type('w07777');
                await page.press('Enter');
                await page.until('document.querySelector(".timeline-label.found")?.innerText.includes("w07777")', 'the thread in sight');
                await page.untilText('#search-hits', /^1 of 1$/);
                await page.press('Escape');
                await page.value(timeline + '.scroll.scrollTop = 0');
                await filter(page, 'w0123?');
                await page.press('Enter');
                await page.until(`${titles}.split(',').length === 10`);
                await page.until('document.querySelector(".timeline-label.found")?.innerText.includes("w01230")', 'the first of them');
                await page.untilText('.timeline-tracks', /10 of 10,000 tracks/);
        });
});
