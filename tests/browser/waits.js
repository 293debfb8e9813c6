// SPDX-License-Identifier: MIT
// Waits of threads, where one clicks and where one hovers, on a made-up trace with known answers: place, call stack,
// who ended the wait and in which function, what that thread did; who had the CPU of a preempted thread; in one file as well.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { chooseItem: choose } = require('./choose_item.js');
const { FakeTrace } = require('./fake_trace.js');
const { makePage } = require('./make_page.js');

const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-waits-'));
const timeline = 'hyprofShell.made.get("timeline")';
let browser;

const game = new FakeTrace();
const spansOf = (title, kind, depth = 0) => game.lanes.find((one) => one.id === game.tracks.find((track) => track.title === title).lanes
        .find((lane) => lane.kind === kind && lane.depth === depth).id).spans;
const states = spansOf('worker 3', 'states');
const waiting = states.find((span) => span[2] >>> 28 === 2 && span[1] - span[0] > 2e6);
const [ready] = states.filter((span) => span[0] === waiting[1]);
/* Worker 3 is preempted in its second run, from the middle on. */
const runs = states.filter((span) => span[2] >>> 28 === 1);
const preempted = [runs[1][0] + 2e5, runs[1][0] + 4e5, (4 << 28 | 1) >>> 0];
states.splice(states.indexOf(runs[1]), 1, [runs[1][0], preempted[0], runs[1][2]], preempted, [preempted[1], runs[1][1], runs[1][2]]);
/* While it waits, its ghost zones are the call stack that was recorded at the switch. */
spansOf('worker 3', 'ghosts', 0).push([waiting[0], waiting[1] + 1000, 6]);
spansOf('worker 3', 'ghosts', 1).push([waiting[0], waiting[1] + 1000, 5]);
game.lane(game.tracks.find((track) => track.title === 'worker 3'), 'ghosts', 2, { spans: [[waiting[0], waiting[1] + 1000, 8]] });
for (const depth of [0, 1])
        spansOf('worker 3', 'ghosts', depth).sort((a, b) => a[0] - b[0]);
const model = game.model();
model.functions.push({ name: 'futex_do_wait', module: '[kernel]', is_kernel: true });
game.model = () => model;
const cpu = spansOf('CPU 1', 'cpu');
cpu.splice(0, cpu.length, ...cpu.filter((span) => span[1] <= preempted[0] || span[0] >= preempted[1]),
           [preempted[0], preempted[0] + 1.5e5, 2]);
cpu.sort((a, b) => a[0] - b[0]);
/* Then another program had the CPU, while worker 3 was ready to run there. */
const unrecorded = [preempted[0] + 1.5e5, preempted[1], 4];
game.lane(game.tracks.find((track) => track.title === 'CPU 1'), 'unrecorded', 0, { spans: [unrecorded] });
const zone = spansOf('main', 'zones')[game.lateFrame];
/* main waits in its late frame. */
const mainStates = spansOf('main', 'states');
const frame = mainStates.find((span) => span[0] === zone[0]);
mainStates.splice(mainStates.indexOf(frame), 1, [zone[0], zone[0] + 1e6, frame[2]], [zone[0] + 1e6, zone[0] + 2e7, (2 << 28 | 1) >>> 0],
                  [zone[0] + 2e7, zone[0] + 2e7 + 5000, (3 << 28 | 3) >>> 0], [zone[0] + 2e7 + 5000, frame[1], frame[2]]);

function pageFile(name, trace) {
        const file = path.join(folder, name + '.html');
        fs.writeFileSync(file, makePage(trace.dataElements()));
        return 'file://' + file;
}

const address = pageFile('fake', game);
const around = (begin, end) => `${address}#view_from=${begin - 3e6}&view_to=${end + 3e6}`;

const place = { id: 1, total_ns: waiting[1] - waiting[0], count: 1, place: 'take_<b>job</b>', state: 'futex', kernel: 'futex_do_wait',
        callstack: ['pthread_cond_wait', 'take_<b>job</b>', 'worker_main', ...'abcdefgh'] };
const answers = {
        off_cpu: { schema: 'hyprof.off_cpu/2', waiting_ns: waiting[1] - waiting[0], n_waits: 1, warnings: [], places: { rows: [place] },
                wakers: { rows: [{ place_id: 1, place: place.place, total_ns: 5e6, count: 1, thread_name: 'main', function: 'push_job',
                        pid: 4242, tid: 4242, kind: 'thread' }] } },
        path: { schema: 'hyprof.path/1', answer: "80% of the range (2.00 ms): thread 'main' ran update()", warnings: [], slowest: { rows: [
                { depth: 1, at_ns: 0, ns: 5e5, thread: 't1', kind: 'ready', function: null, woken_by: null },
                { depth: 1, at_ns: 5e5, ns: 1.5e6, thread: 't1', kind: 'run', function: 'update', woken_by: null }] } },
        threads: { schema: 'hyprof.threads/2', warnings: [], owners: { rows: [
                { ready_ns: 1.5e5, share: 0.75, owner: 'own-thread', owner_handle: 't2', owner_name: 'worker 1', owner_pid: 4242 },
                { ready_ns: 5e4, share: 0.25, owner: 'others', owner_handle: null, owner_name: '[others]', owner_pid: null }] } },
};

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

/** A page whose source answers as `hyprof view` would; `isFile`: as a page in one file. */
async function withPage(url, action, isFile = false) {
        const page = await browser.open(url);
        try {
                await page.until('window.hyprofShell && ' + timeline + ' && ' + timeline + '.frame()', 'the timeline');
                if (!isFile) {
                        await page.value(`(() => {
                                const { viewer } = ${timeline};
                                const answers = ${JSON.stringify(answers)};
                                window.asked = [];
                                viewer.model.file = null;
                                viewer.source.answer = async (question, parameters) => {
                                        if (!["overview", "frames", "idle"].includes(question)) // the page asks these itself
                                                window.asked.push([question, parameters]);
                                        if (!answers[question])
                                                throw new Error('not asked for here');
                                        return answers[question];
                                };
                        })()`);
                }
                await action(page);
                page.noComplaints();
        } finally {
                await page.close();
        }
}

/** The pointer rests on a thread's lane at an instant. */
async function hover(page, title, kind, ns) {
        const at = `(() => {
                const { AXIS_PX } = pageModules['timeline_paint.js'];
                const screen = ${timeline};
                const lane = screen.layout.rows.find((one) => one.title.startsWith(${JSON.stringify(title)})).lanes
                        .find((one) => one.lane.kind === ${JSON.stringify(kind)});
                const box = screen.canvas.getBoundingClientRect();
                screen.scroll.scrollTop = Math.max(0, lane.y - box.height / 2);
                return { x: box.left + (${ns} - screen.from) / (screen.to - screen.from) * box.width,
                         y: box.top + AXIS_PX + lane.y + lane.height / 2 - screen.scroll.scrollTop, id: lane.lane.id };
        })()`;
        const { id } = await page.value(at);
        await page.until(`${timeline}.cache.covering(${id}, ${timeline}.from, ${timeline}.to)`, 'its lane');
        await page.until(settled, 'the rows');
        return page.moveTo(() => page.value(at));
}

/** Nothing is on its way to the picture. */
const settled = `(({ cache, isDrawAsked }) => !cache.isFetching && !cache.wanted && !isDrawAsked && cache.windows.size > 0)(${timeline})`;

const tip = (page) => page.text('.timeline-tip');
const rowsOf = (page, name) => page.value(`[...document.querySelectorAll('.panel [aria-label=${JSON.stringify(name)}] tbody tr')]
        .map((row) => row.innerText.replace(/\\s+/g, ' ').trim())`);

test('a chosen wait says where it was, who ended it in which function, and what that thread did meanwhile', async () => {
        await withPage(around(...waiting), async (page) => {
                await choose(page, 'worker 3', 'states', waiting[0]);
                await page.untilText('.panel-wait', /waited in\s+take_<b>job<\/b>\(\)/);
                const words = await page.text('.panel-wait');
                assert.match(words, /in the kernel\s+futex_do_wait/);
                assert.match(words, /ended by\s+main, which was in push_job\(\)/);
                assert.match(words, /80% of the range \(2\.00 ms\): thread 'main' ran update\(\)/);
                assert.deepStrictEqual(await page.value('[...document.querySelectorAll(".call-stack li")].map((e) => e.innerText)'),
                        place.callstack);
                assert.strictEqual(await page.value('document.querySelectorAll(".panel b").length'), 0, 'names are text');
                assert.deepStrictEqual(await rowsOf(page, 'Meanwhile'),
                        ['0 ns 500 us main ready to run -', '500 us 1.50 ms main ran update']);
                assert.deepStrictEqual(await page.value('window.asked'), [
                        ['off_cpu', { from: String(waiting[0]), to: String(waiting[1] + 1), thread: 't4' }],
                        ['path', { from: String(waiting[0]), to: String(waiting[1]), thread: 't4', top: '200' }]]);
        });
});

test('its waker leads to what that thread did then; from the time after the wake-up the answer is the same', async () => {
        await withPage(around(...waiting), async (page) => {
                await choose(page, 'worker 3', 'states', ready[0]);
                await page.untilText('.panel-wait', /ended by\s+main, which was in push_job/);
                assert.deepStrictEqual(await page.value('window.asked[0][1].from'), String(waiting[0]));
                await page.click('.panel-wait button', 'main, which was in push_job()');
                await page.until(timeline + '.chosen.lane.track.title === "main"');
                assert.ok(await page.value(`${timeline}.chosen.begin <= ${waiting[1]}`));
        });
});

test('a part of what happened meanwhile leads there, also to a track that is not shown', async () => {
        await withPage(around(...waiting), async (page) => {
                await choose(page, 'worker 3', 'states', waiting[0]);
                await page.untilText('.panel-wait', /Meanwhile/);
                await page.value(`${timeline}.choice.filter = 'worker 3'; ${timeline}.arrange()`);
                await page.value(`${timeline}.showRange(0, 1e6)`);
                await page.click('.panel [aria-label="Meanwhile"] td', 'update');
                await page.until(`${timeline}.chosen.lane.track.title === "main" && ${timeline}.from < ${waiting[0] + 5e5} &&
                        ${timeline}.to > ${waiting[0] + 5e5}`, 'main, and its time');
        });
});

test('a zone in which its thread waited has the places, who ended that, and leads to the longest wait of a waker', async () => {
        await withPage(around(zone[0], zone[1]), async (page) => {
                answers.off_cpu.wakers.rows[0] = { ...answers.off_cpu.wakers.rows[0] };
                await page.value(`(() => { const { source } = ${timeline}.viewer; const answered = source.answer;
                        source.answer = async (...asked) => { const answer = structuredClone(await answered(...asked));
                                for (const row of answer.wakers?.rows ?? [])
                                        Object.assign(row, { thread_name: 'worker 2', tid: 4244 });
                                return answer; }; })()`);
                await hover(page, 'main', 'zones', zone[0] + 5e6);
                await page.untilText('.timeline-tip',
                        /^Frame: [^]*\nwaited 2\.04 ms, the most in take_<b>job<\/b>\(\)\n[^]*ended by worker 2/);
                await choose(page, 'main', 'zones', zone[0]);
                await page.untilText('.panel', /Where it waited/);
                assert.match((await rowsOf(page, 'Where it waited')).join(), /take_<b>job<\/b> futex futex_do_wait/);
                assert.match((await rowsOf(page, 'Who ended these waits')).join(), /worker 2 push_job/);
                assert.match((await rowsOf(page, 'Waits')).join(), /19\.0 ms waiting: futex/);
                await page.click('.panel [aria-label="Who ended these waits"] td', 'worker 2');
                await page.until(timeline + '.chosen.lane.track.title === "worker 2"');
        });
});

test('a zone whose thread ran all the time asks for no waits', async () => {
        const other = spansOf('main', 'zones')[game.lateFrame - 1];
        await withPage(around(other[0], other[1]), async (page) => {
                await choose(page, 'main', 'zones', other[0]);
                await page.untilText('.panel', /its thread ran all the time/);
                await page.until('window.asked.some((one) => one[0] === "top_down")');
                assert.deepStrictEqual(await page.value('window.asked.filter((one) => one[0] === "off_cpu")'), []);
                assert.strictEqual(await page.value('document.querySelectorAll(".panel-wait").length'), 0);
        });
});

test('the tooltip says the same in short, once the pointer rests, and is asked once', async () => {
        await withPage(around(...waiting), async (page) => {
                const { x, y } = await hover(page, 'worker 3', 'states', (waiting[0] + waiting[1]) / 2);
                await page.untilText('.timeline-tip', /ended by main, which was in push_job\(\)/);
                const words = await tip(page);
                assert.match(words, /^waiting: sleep: 2\.04 ms\n/);
                assert.match(words, /waited in take_<b>job<\/b>\(\)\n/);
                assert.match(words, /\npthread_cond_wait < take_<b>job<\/b> < worker_main < a < .* < … 3 more\n/);
                assert.match(words, /meanwhile main ran update\(\) 1\.50 ms; main ready to run 500 us/);
                await page.move(x + 3, y);
                assert.match(await tip(page), /ended by main/, 'it stays while the pointer moves on the item');
                assert.strictEqual(await page.value('window.asked.length'), 2);
                await choose(page, 'worker 3', 'states', waiting[0]);
                await page.untilText('.panel-wait', /ended by/);
                assert.strictEqual(await page.value('window.asked.length'), 2, 'the panel knows it already');
        });
});

test('an item that the pointer only crosses is not asked about', async () => {
        await withPage(around(...waiting), async (page) => {
                const { x, y } = await hover(page, 'worker 3', 'states', waiting[1] + 3e5);
                const asked = await page.value(`(async () => {
                        const screen = ${timeline};
                        const move = (ns) => screen.canvas.dispatchEvent(new PointerEvent('pointermove', { clientY: ${y}, bubbles: true,
                                clientX: ${x} + (ns - ${waiting[1] + 3e5}) / (screen.to - screen.from) * screen.canvas.clientWidth }));
                        move(${(waiting[0] + waiting[1]) / 2});
                        const crossed = screen.waitTip.running;
                        move(${waiting[1] + 3e5});
                        return [crossed !== null, crossed?.signal.aborted, screen.waitTip.key];
                })()`);
                assert.deepStrictEqual(asked, [true, true, '']);
                await hover(page, 'worker 3', 'states', (waiting[0] + waiting[1]) / 2);
                await page.untilText('.timeline-tip', /ended by main/);
                assert.strictEqual(await page.value('window.asked.length'), 2, 'the questions of the second time alone');
        });
});

test('preempted: by whom, also in the tooltip, and how programs that were not recorded are recorded', async () => {
        await withPage(around(preempted[0], preempted[1]), async (page) => {
                await choose(page, 'worker 3', 'states', preempted[0]);
                await page.untilText('.panel', /Programs that were not recorded had the CPU for 50\.0 us: hyprof record -a/);
                assert.match((await rowsOf(page, 'Who had the CPU while it was ready to run')).join(), /150 us 75\.0% worker 1/);
                await hover(page, 'worker 3', 'states', preempted[0] + 1e5);
                await page.untilText('.timeline-tip', /had the CPU meanwhile: worker 1 75\.0%, programs that were not recorded 25\.0%/);
        });
});

test('a CPU that other programs had while a thread was ready to run there is hatched, and says so', async () => {
        await withPage(around(preempted[0], preempted[1]) + '&filter=CPU%201', async (page) => {
                const row = await page.value(timeline + '.layout.rows.find((one) => one.title === "CPU 1").lanes.map((lane) => ' +
                        '[lane.lane.kind, lane.y, lane.height])');
                assert.strictEqual(row.length, 2);
                assert.deepStrictEqual([row[0][0], row[1][0]], ['cpu', 'unrecorded']);
                assert.deepStrictEqual(row[0].slice(1), row[1].slice(1), 'both are one lane');
                await page.value(`${timeline}.showRange(${preempted[0]}, ${preempted[1]})`);
                await hover(page, 'CPU 1', 'cpu', (unrecorded[0] + unrecorded[1]) / 2);
                await page.untilText('.timeline-tip',
                        /^other programs, not recorded: 50\.0 us\nCPU 1, at [^]*worker 3 was ready to run here/);
                assert.match(await tip(page), /hyprof record -a records all programs/);
                await page.until(settled, 'the lanes');
                const colors = await page.value(`(() => {
                        const screen = ${timeline};
                        const lane = screen.layout.rows.find((one) => one.title === 'CPU 1').lanes[0];
                        const copy = document.createElement('canvas');
                        const scale = devicePixelRatio;
                        const x = (ns) => (ns - screen.from) / (screen.to - screen.from) * screen.canvas.clientWidth * scale;
                        screen.hover(null);
                        screen.drawNow();
                        copy.width = 40;
                        copy.height = 4;
                        const context = copy.getContext('2d', { willReadFrequently: true });
                        context.drawImage(screen.canvas, Math.round(x(${unrecorded[1] - 1e4})), Math.round((lane.y + 2 + pageModules[
                                'timeline_paint.js'].AXIS_PX - screen.scroll.scrollTop) * scale), 40, 4, 0, 0, 40, 4);
                        const { data } = context.getImageData(0, 0, 40, 4);
                        const found = new Set();
                        for (let i = 0; i < data.length; i += 4)
                                found.add([data[i], data[i + 1], data[i + 2]].join());
                        return found.size;
                })()`);
                assert.ok(colors > 3, 'slanted lines over the ground');
                await hover(page, 'CPU 1', 'cpu', preempted[0] + 5e4);
                await page.untilText('.timeline-tip', /^worker 1: 150 us/);
        }, true);
});

/** The wake-ups in a view by the definition: [time, waker, woken]. */
function wakeUpsIn(trace, from, to) {
        return trace.tracks.filter((track) => track.kind === 'thread').flatMap((track) =>
                trace.lanes.find((lane) => lane.id === track.lanes.find((one) => one.kind === 'states').id).spans
                        .filter((span) => span[2] >>> 28 === 3 && (span[2] & 0xfffffff) !== 0 && span[0] >= from && span[0] < to)
                        .map((span) => [span[0], span[2] & 0xfffffff, track.thread])).sort((a, b) => a[0] - b[0]);
}

/** How many pixels of the arrows' color are in the column of an instant. */
const arrowPixelsAt = (page, ns) => page.value(`(() => {
        const screen = ${timeline};
        const copy = document.createElement('canvas');
        const scale = devicePixelRatio;
        const accent = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
        const parts = [1, 3, 5].map((at) => parseInt(accent.slice(at, at + 2), 16));
        screen.drawNow();
        copy.width = 3;
        copy.height = screen.canvas.height;
        const context = copy.getContext('2d', { willReadFrequently: true });
        const x = Math.round((${ns} - screen.from) / (screen.to - screen.from) * screen.canvas.clientWidth * scale) - 1;
        context.drawImage(screen.canvas, x, 0, 3, copy.height, 0, 0, 3, copy.height);
        const { data } = context.getImageData(0, 0, 3, copy.height);
        let n = 0;
        for (let i = 0; i < data.length; i += 4)
                n += data[i + 2] - data[i] > 60 && data[i + 2] > parts[2] - 40;
        return n;
})()`);

test('a switch draws an arrow for each wake-up in view, from waker to woken, and the address has it', async () => {
        const [from, to] = [waiting[0] - 3e6, waiting[1] + 3e6];
        await withPage(around(...waiting) + '&filter=main,worker', async (page) => {
                await page.until(settled, 'the lanes');
                assert.deepStrictEqual(await page.value(timeline + '.arrows.shown'), []);
                const before = await arrowPixelsAt(page, waiting[1]);
                await page.click('.timeline-tools button', 'Wake-ups');
                await page.until(timeline + '.arrows.shown.length > 0');
                const inSight = await page.value(`pageModules['timeline_rows.js'].rowsBetween(${timeline}.layout.rows,
                        ${timeline}.scroll.scrollTop, ${timeline}.canvas.clientHeight).map((row) => row.track?.thread)`);
                const truth = wakeUpsIn(game, from, to).filter((wakeUp) => inSight.includes(wakeUp[2]));
                const shown = await page.value(`(({ arrows, from, to, canvas }) => arrows.shown.map((one) => [Math.round(from + one.x /
                        canvas.clientWidth * (to - from)), one.from, one.to]).sort((a, b) => a[0] - b[0]))(${timeline})`);
                const middles = Object.fromEntries(await page.value(`[1, 2, 3, 4, 5, 6].map((thread) => {
                        const row = ${timeline}.rowOfThread(thread);
                        return [thread, row.y + row.height / 2 - ${timeline}.scroll.scrollTop + pageModules['timeline_paint.js'].AXIS_PX];
                })`));
                assert.ok(truth.length > 3);
                assert.deepStrictEqual(shown, truth.map(([at, waker, woken]) => [at, middles[waker], middles[woken]]));
                assert.ok(await arrowPixelsAt(page, waiting[1]) > before + 20, 'from main to worker 3');
                await page.untilText('.timeline-tools', new RegExp(`${truth.length} wake-ups`));
                await page.until('/rows=[^&]*\\bw\\b/.test(location.hash)', 'the address');
                await page.press('u');
                await page.until(timeline + '.arrows.shown.length === 0 && !/rows=[^&]*\\bw\\b/.test(location.hash)');
                assert.strictEqual(await arrowPixelsAt(page, waiting[1]), before);
        });
        await withPage(around(...waiting) + '&rows=w', async (page) => {
                await page.until(timeline + '.arrows.shown.length > 0', 'the arrows of the address');
        }, true);
});

test('too many wake-ups: a bounded number of arrows, and how many there are', async () => {
        const many = new FakeTrace({ nThreads: 40, nFrames: 240 });
        for (const spans of many.tracks.filter((track) => track.kind === 'thread').map((track) => many.lanes.find((lane) => lane.id ===
                track.lanes.find((one) => one.kind === 'states').id).spans))
                spans.forEach((span, i) => { /* all are ready to run for half of their waits */
                        if (i > 0 && span[2] >>> 28 === 3)
                                span[0] = spans[i - 1][1] = Math.round((spans[i - 1][0] + span[1]) / 2);
                });
        await withPage(pageFile('many', many) + '#rows=w.F.fprocess-1', async (page) => {
                await page.until(timeline + '.arrows.shown.length > 0', 'arrows');
                await page.until(settled, 'the lanes');
                const most = await page.value('pageModules["timeline_arrows.js"].ARROWS_MAX');
                assert.ok(await page.value(timeline + '.arrows.shown.length') <= most);
                await page.untilText('.timeline-tools', /wake-ups.*; zoom in for shorter ones/);
                await page.value(`${timeline}.showRange(0, 8e8)`);
                await page.until(`${timeline}.arrows.shown.length === ${most}`, 'as many as are drawn');
                await page.untilText('.timeline-tools', new RegExp(`\\b${most} of [\\d,]+ wake-ups, after the longest`));
        }, true);
});

test('a page in one file says what its lanes have, and that it does not hold the rest', async () => {
        await withPage(around(...waiting), async (page) => {
                await choose(page, 'worker 3', 'states', waiting[0]);
                await page.untilText('.panel-wait', /waited in\s+worker_main\(\)/);
                const words = await page.text('.panel-wait');
                assert.match(words, /ended by\s+main/);
                assert.match(words, /This file does not hold in which function that was.*hyprof view/);
                assert.deepStrictEqual(await page.value('[...document.querySelectorAll(".call-stack li")].map((e) => e.innerText)'),
                        ['memcpy', 'worker_main']);
                await hover(page, 'worker 3', 'states', (waiting[0] + waiting[1]) / 2);
                await page.untilText('.timeline-tip', /waited in worker_main\(\)\nmemcpy < worker_main\nended by main/);
                await choose(page, 'worker 3', 'states', preempted[0]);
                await page.untilText('.panel', /Who had the CPU/);
                assert.match((await rowsOf(page, 'Who had the CPU while it was ready to run')).join('; '),
                        /^150 us 75\.0% worker 1.*; 50\.0 us 25\.0% \[others\]/);
        }, true);
});
