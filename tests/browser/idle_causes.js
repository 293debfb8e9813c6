// SPDX-License-Identifier: MIT
// Why CPUs did not run the program, in the strip "CPUs in use" of a made-up trace: the colors of the causes and their order,
// the legend and the tooltip in the report's words, the steps of a zoom, and the strip's words where causes are not known.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { FakeTrace } = require('./fake_trace.js');
const { makePage } = require('./make_page.js');

const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-causes-'));
const timeline = 'hyprofShell.made.get("timeline")';
const row = timeline + '.layout.rows.find((one) => one.title === "CPUs in use")';
let browser;

/** Nothing runs on either CPU for half of the time in the middle: two threads' states are taken away there. */
class RestingTrace extends FakeTrace {
        buildLoad() {
                const { duration_ns } = this;
                const states = this.tracks.flatMap((track) => track.lanes).filter((lane) => lane.kind === 'states');

                for (const lane of states) {
                        const own = this.lanes.find((one) => one.id === lane.id);
                        own.spans = own.spans.filter(([begin, end]) => end < duration_ns * 0.25 || begin > duration_ns * 0.75);
                        lane.items = own.spans.length;
                }
                super.buildLoad();
        }
}

const game = new RestingTrace();
const middle = game.duration_ns / 2;

/** Equal steps, whose idle CPUs are: all waiting for a timer in the first half, a quarter by a lock in the second. */
function answerOf(from, to, nSteps, more) {
        const ns = Math.floor((to - from) / nSteps);
        const steps = Array.from({ length: nSteps }, (_, i) => from + i * ns);
        return { schema: 'hyprof.idle/1', answer: '70% of 2 cores were idle while the program ran', cpus: 2,
                warnings: ['of another kind', 'the rest counts as idle; record --idle tells them apart'],
                steps: { about: null, left_out: 0, rows: steps.flatMap((at_ns) => at_ns < middle
                        ? [{ at_ns, ns, running: 0.5, cause: 'timer', cores: 1.5 }]
                        : [{ at_ns, ns, running: 0.4, cause: 'lock', cores: 0.4 },
                           { at_ns, ns, running: 0.4, cause: 'of a later hyprof', cores: 1.2 }]) }, ...more };
}

function pageFile(name, answers) {
        const file = path.join(folder, name + '.html');
        fs.writeFileSync(file, makePage(game.dataElements(answers)));
        return 'file://' + file;
}

const known = pageFile('known', { 'idle&histogram=1': answerOf(0, game.duration_ns, 100) });
const bare = pageFile('bare', {});
const unknown = pageFile('unknown', { 'idle&histogram=1': answerOf(0, 0, 0,
        { answer: 'how many cores were idle is unknown: no context switches were recorded' }) });

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

async function withTimeline(url, action, options = {}) {
        const page = await browser.open(url, options);
        try {
                await page.until('window.hyprofShell && ' + timeline + ' && ' + timeline + '.frame()', 'the timeline');
                await action(page);
                page.noComplaints();
        } finally {
                await page.close();
        }
}

/** The strip as it is now, an instant's column from the bottom upwards: the names of the colors and how many pixels each has. */
function columnAt(page, ns) {
        return page.value(`(() => {
                const { AXIS_PX } = pageModules['timeline_paint.js'];
                const colors = pageModules['colors.js'].themeColors();
                const screen = ${timeline};
                const lane = ${row}.lanes[0];
                const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
                const rgbOf = (color) => {
                        probe.fillStyle = color;
                        probe.fillRect(0, 0, 1, 1);
                        return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3).join();
                };
                const names = new Map(Object.keys(colors).filter((name) => /^(running|runnable|background|cause-)/.test(name))
                        .map((name) => [rgbOf(colors[name]), name]));
                screen.drawNow();
                const x = (${ns} - screen.from) / (screen.to - screen.from) * screen.canvas.clientWidth;
                const y = lane.y - screen.scroll.scrollTop + AXIS_PX;
                const copy = document.createElement('canvas');
                copy.width = 1;
                copy.height = lane.height;
                const context = copy.getContext('2d', { willReadFrequently: true });
                context.drawImage(screen.canvas, Math.round(x), y, 1, lane.height, 0, 0, 1, lane.height);
                const { data } = context.getImageData(0, 0, 1, lane.height);
                const runs = [];
                for (let i = lane.height - 1; i >= 0; i--) {
                        const name = names.get([...data.slice(i * 4, i * 4 + 3)].join()) ?? 'mixed';
                        if (name === 'mixed')
                                continue;
                        if (runs.length === 0 || runs[runs.length - 1][0] !== name)
                                runs.push([name, 0]);
                        runs[runs.length - 1][1]++;
                }
                return runs;
        })()`);
}

const isStill = `!${timeline}.cache.isFetching && !${timeline}.cache.wanted && !${timeline}.isDrawAsked`;
const isDrawn = `${timeline}.causes.whole !== null && ${isStill}`;

/** Longer than a view has to rest. */
const rest = () => new Promise((resolve) => setTimeout(resolve, 600));

/** The texts that the canvas writes while it is drawn. */
function writtenWords(page) {
        return page.value(`(() => {
                const { context } = ${timeline}.frame();
                const written = [];
                context.fillText = (words) => written.push(words);
                ${timeline}.drawNow();
                delete context.fillText;
                return written;
        })()`);
}

test('the causes fill the CPUs that did not run the program, in their colors, from the bottom to the top of the strip', async () => {
        await withTimeline(known, async (page) => {
                await page.until(isDrawn, 'the strip');
                const first = await columnAt(page, middle * 0.81);
                assert.deepStrictEqual(first.map(([name]) => name), ['cause-timer'], JSON.stringify(first));
                assert.ok(first[0][1] >= 34, JSON.stringify(first));
                const second = await columnAt(page, middle * 1.2);
                assert.deepStrictEqual(second.map(([name]) => name), ['cause-lock', 'cause-unknown'], JSON.stringify(second));
                assert.ok(Math.abs(second[0][1] / (second[0][1] + second[1][1]) - 0.25) < 0.06, JSON.stringify(second));
                await page.value(`${timeline}.showRange(${game.duration_ns * 0.1} - 2e7, ${game.duration_ns * 0.1} + 2e7)`);
                await page.until(isStill, 'the zoom');
                const busy = await columnAt(page, game.duration_ns * 0.1);
                assert.ok(busy.some(([name]) => name === 'running'), JSON.stringify(busy));
                assert.ok(!busy.some(([name]) => name === 'runnable' || name === 'cause-lock'), JSON.stringify(busy));
        });
});

test('the legend has the shares of the view, and the tooltip those of the place, in the words of the report', async () => {
        await withTimeline(known, async (page) => {
                await page.until(isDrawn, 'the strip');
                const words = await writtenWords(page);
                for (const wanted of ['ran 22.5%', 'timer 37.5%', 'lock 10.0%', 'unknown 30.0%'])
                        assert.ok(words.includes(wanted), `${wanted}: ${words.join('; ')}`);
                assert.ok(words.some((one) => /record --idle tells them/.test(one)), words.join('; '));
                assert.ok(!words.some((one) => /another kind/.test(one)), words.join('; '));
                await page.moveTo(() => page.value(`(() => {
                        const box = ${timeline}.canvas.getBoundingClientRect();
                        const lane = ${row}.lanes[0];
                        return { x: box.left + box.width * 0.6, y: box.top + pageModules['timeline_paint.js'].AXIS_PX + lane.y + 9 };
                })()`));
                await page.untilText('.timeline-tip', /60\.0% of the CPUs: unknown/);
                const tip = await page.text('.timeline-tip');
                assert.match(tip, new RegExp('^0 of 2 CPUs ran[^]*60\\.0% of the CPUs: unknown\n20\\.0% of the CPUs: lock\n' +
                        'mean of[^]*causes: mean of 39\\.9 ms, at [\\d.]+ s$'));
        });
});

test('a zoom is asked about when it has rested, and has steps of its own; there and back asks no more', async () => {
        await withTimeline(known, async (page) => {
                await page.until(isDrawn, 'the strip');
                await page.value(`(() => {
                        const { viewer } = ${timeline};
                        const answerOf = ${answerOf.toString().replace(/\bmiddle\b/g, String(middle))};
                        window.asked = [];
                        viewer.model.file = null;
                        viewer.source.answer = async (question, { from, to }) => {
                                window.asked.push([question, from, to]);
                                return answerOf(from, to, 50);
                        };
                        ${timeline}.showRange(${middle} - 2e7, ${middle} + 2e7);
                })()`);
                await page.until(timeline + '.causes.near !== null', 'the steps of the part');
                assert.deepStrictEqual(await page.value('window.asked'), [['idle', Math.floor(middle - 4e7), Math.ceil(middle + 4e7)]]);
                assert.strictEqual((await columnAt(page, middle - 5e6))[0][0], 'cause-timer');
                assert.strictEqual((await columnAt(page, middle + 5e6))[0][0], 'cause-lock');
                await page.value(`${timeline}.showRange(0, ${game.duration_ns})`);
                await page.until('!' + timeline + '.isDrawAsked');
                await rest(); // no part of this view would have shorter steps
                assert.ok(await page.value(`${timeline}.frame().causes === ${timeline}.causes.whole`));
                await page.value(`${timeline}.showRange(${middle} - 2e7, ${middle} + 2e7)`);
                await page.until('!' + timeline + '.isDrawAsked && !' + timeline + '.causes.isAsking');
                await rest();
                assert.strictEqual(await page.value('window.asked.length'), 1);
        });
});

test('where no causes are known, the strip has what could run, and says why', async () => {
        for (const [url, why] of [[bare, /this file does not hold this answer/], [unknown, /no context switches were recorded/]]) {
                await withTimeline(url, async (page) => {
                        await page.until(`${timeline}.causes.lack !== '' && ${isStill}`, 'the words');
                        const words = await writtenWords(page);
                        assert.ok(words.some((one) => why.test(one)), words.join('; '));
                        assert.ok(words.includes('could run'), words.join('; '));
                        assert.deepStrictEqual((await columnAt(page, middle)).map(([name]) => name), ['background']);
                        const tip = await page.value(`pageModules['timeline_words.js'].wordsOfHit(${timeline}.viewer,
                                ${timeline}.hitOf(${row}, ${row}.lanes[0], ${middle}))`);
                        assert.ok(tip.includes('the rest was idle, or other programs had it'), tip.join('; '));
                });
        }
});

test('without sums of CPU time the steps alone are the strip', async () => {
        const file = path.join(folder, 'alone.html');
        const alone = new RestingTrace();
        alone.tracks = alone.tracks.filter((track) => track.kind !== 'load');
        fs.writeFileSync(file, makePage(alone.dataElements({ 'idle&histogram=1': answerOf(0, game.duration_ns, 100) })));
        await withTimeline('file://' + file, async (page) => {
                await page.until(isDrawn, 'the strip');
                const first = await columnAt(page, middle * 0.81);
                assert.deepStrictEqual(first.map(([name]) => name), ['running', 'cause-timer']);
                assert.ok(Math.abs(first[0][1] / 38 - 0.25) < 0.06, JSON.stringify(first));
                const tip = await page.value(`pageModules['timeline_words.js'].wordsOfHit(${timeline}.viewer,
                        ${timeline}.hitOf(${row}, ${row}.lanes[0], ${middle} * 0.81)).join('; ')`);
                assert.match(tip, /^0\.5 of 2 CPUs ran threads of the program; 75\.0% of the CPUs: timer; mean of 39\.9 ms, at [\d.]+ s$/);
        });
});
