// SPDX-License-Identifier: MIT
// The timeline before anything is clicked: the first sentence of the report is above it; in each lane of zones a name can be
// read, with how many it stands for; without zones, functions are shown by themselves, in a bounded room; and the picture
// is never of another height than the names beside it.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { FakeTrace } = require('./fake_trace.js');
const { loadPages } = require('./loaded_pages.js');
const { makePage } = require('./make_page.js');

const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-first-'));
const timeline = 'hyprofShell.made.get("timeline")';
const SENTENCE = 'zone <img src=x onerror="globalThis.ran = 1"> took 3.98 s in all';
const trace = new FakeTrace();
let browser;

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

async function withPage(answers, action, { of = trace, fragment = '' } = {}) {
        const file = path.join(folder, 'page.html');
        fs.writeFileSync(file, makePage(of.dataElements(answers)));
        const page = await browser.open('file://' + file + fragment, { height: 2400 });
        try {
                await page.until('window.hyprofShell && ' + timeline, 'the timeline');
                await action(page);
                page.noComplaints();
        } finally {
                await page.value('localStorage.clear()');
                await page.close();
        }
}

test('the first sentence of the report is above the lanes, as text', async () => {
        await withPage({ overview: { schema: 'hyprof.overview/2', answer: SENTENCE } }, async (page) => {
                await page.untilText('.timeline-answer', /took 3\.98 s in all/);
                assert.strictEqual(await page.text('.timeline-answer'), SENTENCE);
                assert.strictEqual(await page.value('globalThis.ran === undefined && document.querySelectorAll("img").length'), 0);
        });
});

test('without an answer there is no line', async () => {
        await withPage({}, async (page) => {
                await page.until(timeline + '.cache.windows.size > 0', 'the first lanes');
                assert.strictEqual(await page.value('document.querySelector(".timeline-answer").hidden'), true);
        });
});

/** Texts of the picture; those of boxes side by side, and of the widest box, are among them. */
const elements = `(() => {
        const { SvgPen } = pageModules['svg_pen.js'];
        const pen = new SvgPen(2000, 2000);
        ${timeline}.save.paint(pen);
        return [...new DOMParser().parseFromString(pen.text('x'), 'image/svg+xml').querySelectorAll('text')];
})()`;
const texts = `${elements}.map((one) => one.textContent)`;

test('each lane of zones has a name before a zoom, and it says how many it stands for', async () => {
        await withPage({}, async (page) => {
                const lanes = `${timeline}.layout.rows.flatMap((row) => row.lanes).filter((one) => one.lane.kind === 'zones')`;

                await page.until(`${lanes}.every((one) => ${timeline}.cache.has(one.lane.id, 0, hyprofViewer.model.duration_ns,
                        ${timeline}.frame().bucketLog2))`, 'all lanes');
                const names = (await page.value(texts)).filter((text) => / ×[\d,]+$|, longest of [\d,]+$/.test(text));
                const counts = await page.value(`${lanes}.map((one) => one.lane.items)`);
                const total = counts.reduce((sum, n) => sum + n, 0);
                const said = names.map((text) => Number(/([\d,]+)$/.exec(text)[1].replaceAll(',', '')));

                assert.ok(names.length >= counts.length, `${names.length} names in ${counts.length} lanes: ${names.join('; ')}`);
                assert.ok(names.some((text) => text.startsWith('Frame')), names.join('; '));
                assert.ok(said.reduce((sum, n) => sum + n, 0) <= total, 'no item is counted twice');
        });
});

/**
 * A program without zones, of `nThreads` threads whose call stacks have 20 levels: the outermost six are one function each, as
 * main is; below, each level has twice the calls, four at first.  Threads that come later have more samples.
 */
class SampledTrace extends FakeTrace {
        constructor(nThreads = 3) {
                super({ nThreads, nFrames: 20 });
                const threads = this.tracks.filter((track) => track.kind === 'thread');

                for (const track of this.tracks)
                        track.lanes = track.lanes.filter((lane) => !['zones', 'ghosts', 'samples'].includes(lane.kind));
                threads.forEach((track, i) => {
                        const step = (this.duration_ns - 2e6) / 1024;

                        this.lane(track, 'samples', 0, { spans: Array.from({ length: 10 * (i + 1) }, (_, j) => [j * 1e6, j * 1e6, 1]) });
                        for (let depth = 0; depth < 20; depth++) {
                                const n = depth < 6 ? 1 : Math.min(1024, 1 << (depth - 4));

                                this.lane(track, 'ghosts', depth, { spans: Array.from({ length: n }, (_, j) =>
                                        [1e6 + j * 1024 / n * step, 1e6 + (j + 1) * 1024 / n * step - 1, depth % 8]) });
                        }
                });
        }
}

const ghosts = `${timeline}.layout.rows.filter((row) => row.track?.kind === 'thread')
        .map((row) => row.lanes.filter((one) => one.lane.kind === 'ghosts').map((one) => one.lane.depth))`;

test('without zones, functions are shown by themselves from where the stacks part, and each lane has a name', async () => {
        await withPage({}, async (page) => {
                const seen = await page.value(ghosts);

                assert.deepStrictEqual(seen, [[5, 6, 7, 8, 9], [5, 6, 7, 8, 9, 10, 11, 12], [5, 6, 7, 8, 9, 10, 11, 12]]);
                const lanes = `${timeline}.layout.rows.flatMap((row) => row.lanes).filter((one) => one.lane.kind === 'ghosts')`;
                await page.until(`${lanes}.every((one) => ${timeline}.cache.has(one.lane.id, 0, hyprofViewer.model.duration_ns,
                        ${timeline}.frame().bucketLog2))`, 'all lanes');
                const names = (await page.value(texts)).filter((text) => /^(worker_main|memcpy|main|run_frame|simulate)\b/.test(text));
                assert.ok(names.length >= 5 + 8 + 8, names.join('; '));
                assert.deepStrictEqual(await page.value(`[...document.querySelectorAll('.timeline-ghosts')].map((one) => one.innerText)`),
                        ['ƒ 5 of 20', 'ƒ 8 of 20', 'ƒ 8 of 20']);
                await page.untilText('.timeline-tools', /Ghost zones: some/);
        }, { of: new SampledTrace() });
});

test('where preemptions cut all functions, the lanes end with the fullest one; where the stacks never part, with what there is', () => {
        const inPages = loadPages();
        const chosen = (counts) => {
                const lanes = counts.map((items, depth) => ({ id: depth, kind: 'ghosts', depth, items }));
                const model = inPages('(document) => new TraceModel(document)')({ tracks: [{ id: 0, kind: 'thread', title: 't', process: 1,
                        thread: 1, lanes }] });

                return [...inPages('someGhosts')(model).get(0).lanes];
        };

        assert.deepStrictEqual(chosen([45, 46, 46, 46, 47, 48, 49, 56, 62, 63, 70, 86, 106, 101, 86, 79]), [6, 7, 8, 9, 10, 11, 12, 13]);
        assert.deepStrictEqual(chosen([66, 68, 68, 69, 71, 71, 71, 71, 72, 73, 70, 69, 64, 65]), [2, 3, 4, 5, 6, 7, 8, 9]);
        assert.deepStrictEqual(chosen([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), [2, 3, 4, 5, 6, 7, 8, 9]);
        assert.deepStrictEqual(chosen([36, 36, 36, 36, 36, 36, 36, 36, 36, 1, 1]), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert.deepStrictEqual(chosen([1, 900]), [0, 1]);
});

test('of many threads without zones, those with the most samples have functions: 24 lanes in all', async () => {
        for (const [nThreads, nShown] of [[5, 5], [14, 12]])
                await withPage({}, async (page) => {
                        const seen = await page.value(ghosts);

                        assert.strictEqual(seen.filter((lanes) => lanes.length >= 2).length, nShown, JSON.stringify(seen));
                        assert.strictEqual(seen.filter((lanes) => lanes.length > 0).length, nShown);
                        assert.ok(seen.every((lanes, i) => i === 0 || lanes.length >= seen[i - 1].length), 'more of busier threads');
                        assert.ok(seen.flat().length <= 24);
                        const shown = await page.value(`${timeline}.layout.rows.filter((row) => row.track?.kind === 'thread' &&
                                row.lanes.some((one) => one.lane.kind === 'ghosts')).map((row) => row.track.title)`);
                        assert.ok(shown.includes('worker ' + (nThreads - 1)), shown.join());
                        assert.strictEqual(shown.includes('main'), nShown === nThreads);
                }, { of: new SampledTrace(nThreads), fragment: '#sort=name' });
});

test('all of them, none, and some again: by one button, by that of a thread, and in a link', async () => {
        const count = `${ghosts}.map((depths) => depths.length).join()`;

        await withPage({}, async (page) => {
                const counts = async (expected, rows) => {
                        await page.until(`${count} === '${expected}'`, expected);
                        await page.until(`hyprofViewer.state.rows === '${rows}'`, rows);
                };

                await page.click('.timeline-ghosts', 'ƒ 8 of 20');
                await page.until(`${count} === '5,20,8'`, 'all of one thread');
                await page.click('.timeline-ghosts', 'ƒ');
                await counts('5,8,8', '0');
                await page.press('g');
                await counts('20,20,20', 'g');
                await page.press('g');
                await counts('0,0,0', 'n');
                await page.press('g');
                await counts('5,8,8', '0');
        }, { of: new SampledTrace() });
        for (const [fragment, expected] of [['#rows=n', '0,0,0'], ['#rows=g', '20,20,20'], ['#rows=i', '5,8,8']])
                await withPage({}, (page) => page.until(`${count} === '${expected}'`, fragment), { of: new SampledTrace(), fragment });
});

test('words of the picture have the sizes of the page and no others', async () => {
        for (const of of [trace, new SampledTrace()])
                await withPage({}, async (page) => {
                        await page.until(`${timeline}.cache.windows.size > 0 && !${timeline}.cache.isFetching`, 'the first lanes');
                        const sizes = await page.value(`[...new Set(${elements}.map((one) => one.getAttribute('font-size')))]`);
                        assert.ok(sizes.every((size) => ['11', '12', '13', '15'].includes(size)), sizes.join());
                }, { of });
});

test('functions stay out of the way where there are zones', async () => {
        await withPage({}, async (page) => {
                assert.deepStrictEqual((await page.value(ghosts)).flat(), []);
                await page.untilText('.timeline-tools', /Ghost zones(?!:)/);
        });
});

test('nothing is named so while one name is searched for', async () => {
        await withPage({}, async (page) => {
                await page.until(`${timeline}.cache.windows.size > 0`, 'the first lanes');
                await page.press('/');
                await page.type('physics');
                await page.until(`${timeline}.search.matches`, 'the search');
                assert.deepStrictEqual((await page.value(texts)).filter((text) => / ×[\d,]+$|, longest of/.test(text)), []);
        });
});

test('when the room for the lanes changes, they are drawn for it before it is shown', async () => {
        await withPage({}, async (page) => {
                const sizes = await page.value(`new Promise((resolve) => {
                        const { canvas, scroll } = ${timeline};
                        const hint = document.querySelector('.timeline-hint');
                        const seen = [];
                        const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                        // Observers are called in the order in which they were made, all before the picture is shown.
                        new ResizeObserver(() => seen.push([canvas.width, canvas.clientWidth, canvas.height, canvas.clientHeight]))
                                .observe(scroll);
                        frame().then(() => { hint.hidden = true; return frame(); }).then(frame)
                                .then(() => { hint.hidden = false; return frame(); })
                                .then(frame).then(() => resolve(seen));
                })`);

                assert.ok(sizes.length >= 3, 'the room has changed twice: ' + JSON.stringify(sizes));
                for (const [width, shownWidth, height, shownHeight] of sizes)
                        assert.deepStrictEqual([width, height], [shownWidth, shownHeight]);
        });
});
