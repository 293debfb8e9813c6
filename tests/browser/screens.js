// SPDX-License-Identifier: MIT
// Each screen of the served viewer by what a person does: open, read, search, sort, click; by keyboard alone; at 200 %
// zoom; in light and dark with a contrast of 4.5 to 1 of all text that is there; every table with a name for screen
// readers.  No console message, no request but to the viewer.
//
// Usage: node screens.js; TRACES is the folder that browser_screens.sh records into, HYPROF the program.
'use strict';

const fs = require('fs');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { serveTrace } = require('./served_trace.js');

const folder = process.env.TRACES;
const here = '[role=tabpanel]:not([hidden])';
const TITLES = ['Timeline', 'Zones', 'Functions', 'Flame graph', 'Heat map', 'Source', 'Waits', 'Memory', 'Frames', 'Messages', 'Counters',
        'Info'];
let browser;

const served = new Map();

/** The viewer of a trace, or of two to compare: started once. */
async function addressOf(...traces) {
        const key = traces.join();

        if (!served.has(key)) {
                const files = traces.map((name) => path.join(folder, name));

                served.set(key, await serveTrace(...(files.length === 2 ? ['--before', files[0], '--after', files[1]] : files)));
        }
        return served.get(key).address;
}

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        await Promise.all([...served.values()].map(({ viewer }) => new Promise((resolve) => {
                viewer.removeAllListeners('exit');
                viewer.on('exit', resolve);
                viewer.kill('SIGINT');
        })));
});

/** Waits until the screen that is shown has all its answers, and the timeline its index. */
async function untilReady(page) {
        await page.until('globalThis.hyprofViewer && hyprofViewer.model.progress >= 1', 'the index');
        await page.until(`!document.querySelector(${JSON.stringify(here)} + " [aria-busy=true]")`, 'the answers');
}

async function withPage(traces, options, action) {
        const address = await addressOf(...traces);
        const page = await browser.open(address + (options.fragment || ''), options);

        try {
                await page.until('document.querySelector("[role=tab]")', 'the page');
                await untilReady(page);
                await action(page);
                page.noComplaints((url) => url.startsWith(address));
        } finally {
                await page.close();
        }
}

async function openTab(page, title) {
        await page.click('[role=tab]', title);
        await page.until(`document.querySelector("[role=tab][aria-selected=true]").innerText === ${JSON.stringify(title)}`);
        await untilReady(page);
}

/** Cells of the first row of a table that is shown. */
async function firstRow(page, name) {
        const row = `${here} [role=grid][aria-label="${name}"] tbody tr:not(.gap)`;

        await page.until(`document.querySelector(${JSON.stringify(row)})`, 'a row of ' + name);
        return page.value(`[...document.querySelector(${JSON.stringify(row)}).cells].map((c) => c.innerText.trim())`);
}

/** Waits for such a row, at whatever place: how much longer one wait is than another depends on the build. */
async function hasRow(page, name, pattern) {
        const rows = `${here} [role=grid][aria-label="${name}"] tbody tr:not(.gap)`;

        await page.until(`[...document.querySelectorAll(${JSON.stringify(rows)})].some((row) => ${pattern}.test(row.innerText))`,
                `${pattern} in ${name}`);
}

/** In the page: texts whose contrast with what is behind them is too low, as [ratio, text, colors]. */
const LOW_CONTRAST = `(() => {
        const parse = (css) => { const m = css.match(/[\\d.]+/g); return m ? m.map(Number) : [0, 0, 0, 0]; };
        const over = (front, back) => { const a = front.length > 3 ? front[3] : 1;
                return [0, 1, 2].map((i) => front[i] * a + back[i] * (1 - a)); };
        const backOf = (element) => {
                const layers = [];
                for (let at = element; at; at = at.parentElement) {
                        const color = getComputedStyle(at).backgroundColor;
                        if (color.startsWith('color(')) { const m = parse(color.slice(color.indexOf(' ')));
                                layers.push([m[0] * 255, m[1] * 255, m[2] * 255, m.length > 3 ? m[3] : 1]); }
                        else layers.push(parse(color));
                }
                return layers.reverse().reduce((back, layer) => over(layer, back), [255, 255, 255]);
        };
        const { contrastOfRgb } = pageModules['colors.js'];
        const low = [];
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
                const element = walker.currentNode.parentElement;
                if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.disabled
                                || element.closest('option, [aria-hidden=true], script, noscript'))
                        continue;
                const style = getComputedStyle(element);
                const back = backOf(element);
                const ratio = contrastOfRgb(over(parse(style.color), back), back);
                if (ratio < 4.5)
                        low.push([ratio.toFixed(2), walker.currentNode.data.trim().slice(0, 40), style.color, back.join()]);
        }
        return low;
})()`;

for (const isDark of [false, true])
        test(`all text of all screens has a contrast of 4.5 to 1, ${isDark ? 'dark' : 'light'}`, async () => {
                await withPage(['pool.hyp'], { isDark }, async (page) => {
                        for (const title of TITLES) {
                                await openTab(page, title);
                                assert.deepStrictEqual(await page.value(LOW_CONTRAST), [], title);
                        }
                });
        });

test('every table has a name, titles of its columns, a filter, and its rows as CSV', async () => {
        await withPage(['every.hyp'], {}, async (page) => {
                for (const title of TITLES.slice(1)) {
                        await openTab(page, title);
                        const tables = await page.value(`[...document.querySelectorAll(${JSON.stringify(here)} +
                                ' .data-table')].map((t) => [t, pageModules['data_table.js'].dataTables.get(t)]).map(([t, table]) => ({
                                name: t.querySelector('[role=grid]').getAttribute('aria-label'),
                                pane: t.querySelector('.data-pane').getAttribute('aria-label'),
                                reached: t.querySelector('.data-pane').tabIndex,
                                heads: [...t.querySelectorAll('[role=columnheader]')].map((h) => h.innerText.trim()),
                                filter: t.querySelector('input').getAttribute('aria-label'),
                                csv: table.csv().split('\\n').length - 2, n: table.rows.length }))`);

                        assert.strictEqual(new Set(tables.map((table) => table.name)).size, tables.length, title + ': names are different');
                        for (const table of tables) {
                                assert.ok(table.name && table.pane.startsWith(table.name) && table.filter.endsWith(table.name), title);
                                assert.ok(table.heads.length > 0 && table.heads.every((head) => head), `${title}: ${table.name}`);
                                assert.strictEqual(table.reached, 0);
                                assert.strictEqual(table.csv, table.n, `${title}: ${table.name}`);
                        }
                }
        });
});

test('at 200 % zoom each screen is as wide as the window, and its first controls can be clicked', async () => {
        await withPage(['pool.hyp'], { width: 1280, height: 1024, scale: 2 }, async (page) => {
                for (const title of TITLES) {
                        await openTab(page, title);
                        assert.ok(await page.value('document.documentElement.scrollWidth <= innerWidth'), title + ' is too wide');
                        assert.ok(await page.value(`(() => { const s = document.querySelector(${JSON.stringify(here)});
                                return s.scrollWidth <= s.clientWidth + 1; })()`), title + ' is cut off');
                        assert.ok(await page.value(`[...document.querySelectorAll(${JSON.stringify(here)} + ' button, select')].every((e) =>
                                !e.checkVisibility() || e.getBoundingClientRect().width > 4)`), title);
                }
        });
});

test('the search box filters the tables of each screen', async () => {
        await withPage(['pool.hyp'], { fragment: '#screen=zones' }, async (page) => {
                await page.press('/');
                await page.type('softmax');
                await page.untilText('#search-hits', /^[1-9]\d* of \d+ rows$/);
                assert.strictEqual((await firstRow(page, 'Zones'))[1], 'softmax');
                await openTab(page, 'Functions');
                assert.match((await firstRow(page, 'Functions')).join(), /softmax/);
                await page.click('#search');
                await page.press('Escape');
                await page.untilText('#search-hits', /^$/);
        });
});

test('zones: a zone by keyboard, its histogram, a part of it, groups, and why', async () => {
        await withPage(['why.hyp'], { fragment: '#screen=zones' }, async (page) => {
                await page.value(`document.querySelector(${JSON.stringify(here)} + ' .data-pane').focus()`);
                await page.press('Enter');
                await page.untilText(here, /Zone request/);
                await untilReady(page);
                assert.match(await page.text(here), /zone request: 1,200 instances/, 'a name, not a handle');
                await page.value(`document.querySelector(${JSON.stringify(here)} + ' .histogram canvas').focus()`);
                await page.press('ArrowRight');
                await page.until('location.hash.includes("longer=")');
                await page.untilText(here, /instances of .* to .*: [\d,]+/);
                await page.click('button', 'show on the timeline');
                await page.untilText('.timeline-tools', /highlighted: request of/);
                await page.until(`hyprofShell.made.get('timeline').highlight().what > 0`);
                await openTab(page, 'Flame graph');
                await page.untilText(here, /instances of at least .*, beside the others/);
                await openTab(page, 'Zones');
                await page.value(`document.querySelector(${JSON.stringify(here)} + ' .histogram canvas').focus()`);
                await page.press('Escape');
                await page.until('!location.hash.includes("longer=")');
                await page.value(`(() => { const s = document.querySelector('[data-state=group]'); s.value = 'thread';
                        s.dispatchEvent(new Event('change')); })()`);
                assert.match((await firstRow(page, 'By thread')).join(), /worker|1,200/);
                await page.click('button', 'why are some slow?');
                assert.match((await firstRow(page, 'Causes')).join(), /lock/i);
        });
});

test('functions: the callers and callees of one, by keyboard', async () => {
        await withPage(['pool.hyp'], { fragment: '#screen=functions' }, async (page) => {
                const [, name] = await firstRow(page, 'Functions');

                await page.value(`document.querySelector(${JSON.stringify(here)} + ' .data-pane').focus()`);
                await page.press('Enter');
                await page.until('location.hash.includes("function=f")');
                await firstRow(page, `Callers of ${name}, as a tree`);
                await firstRow(page, `Called by ${name}, as a tree`);
        });
});

test('flame graph: search, zoom by keyboard, other shapes and metrics', async () => {
        await withPage(['pool.hyp'], { fragment: '#screen=flame' }, async (page) => {
                const choose = (key, value) => page.value(`(() => { const s = document.querySelector(${JSON.stringify(here)} +
                        ' [data-state=${key}]'); s.value = '${value}'; s.dispatchEvent(new Event('change')); })()`);

                await page.click(here + ' .flame input');
                await page.type('matmul');
                await page.untilText(here + ' .flame .data-tools', /matched [\d.]+%/);
                await page.value(`document.querySelector(${JSON.stringify(here)} + ' .flame canvas').focus()`);
                await page.press('ArrowDown');
                await page.press('Enter');
                await page.untilText(here + ' .flame-words', /^(?!all:).*\d/);
                for (const [key, value, words] of [['shape', 'inverted', /By function/], ['shape', 'zones', /Calls/],
                        ['shape', 'sandwich', /Choose a function/], ['metric', 'off_cpu', /Waiting, by call stack/],
                        ['metric', 'wall', /on CPUs \(samples of .* waiting, [^]*Wall time of all threads/]]) {
                        await choose(key, value);
                        await page.untilText(here, words);
                        await untilReady(page);
                }
        });
});

test('heat map: a cell by its color and by keyboard, the longest instances of a zone, and what ran in the chosen cells', async () => {
        await withPage(['pool.hyp'], {}, async (page) => {
                const chart = 'hyprofShell.made.get("heat").chart';
                const handle = await page.value('hyprofViewer.model.locations.find((one) => one.name === "compile").handle');
                const colorAt = (cell) => page.value(`(() => {
                        const { canvas, options: { grid } } = ${chart};
                        const width = (canvas.clientWidth - 65) / grid.nColumns;
                        const x = 64 + (Math.floor(${cell} / grid.nRows) + 0.4) * width;
                        const y = (${cell} % grid.nRows + 0.4) * ${chart}.height;
                        const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
                        context.drawImage(canvas, -x * devicePixelRatio, -y * devicePixelRatio);
                        const pixel = context.getImageData(0, 0, 1, 1).data;
                        return 'rgb(' + [...pixel.slice(0, 3)].join() + ')';
                })()`);
                const hottest = `${chart}.options.grid.values.indexOf(${chart}.most)`;

                await openTab(page, 'Heat map');
                await page.untilText(`${here} .headline`, /^the most samples in /);
                assert.strictEqual(await page.value(`${chart}.options.grid.values.reduce((sum, n) => sum + n, 0)`),
                        await page.value('hyprofViewer.source.answer("heat", {}).then((answer) => answer.samples)'));
                assert.strictEqual(await colorAt(await page.value(hottest)),
                        await page.value('pageModules["heat_chart.js"].heatColor(1, false)'));
                const empty = await page.value(`${chart}.options.grid.values.indexOf(0)`);
                if (empty >= 0)
                        assert.strictEqual(await colorAt(empty), await page.value(`(() => {
                                const probe = document.createElement('canvas').getContext('2d');
                                probe.fillStyle = pageModules['colors.js'].themeColors().surface;
                                probe.fillRect(0, 0, 1, 1);
                                return 'rgb(' + [...probe.getImageData(0, 0, 1, 1).data.slice(0, 3)].join() + ')';
                        })()`));
                // A window of another height does not draw the chart anew: its cells are where they were.
                const [width, height] = await page.value('[innerWidth, innerHeight]');
                const lowest = `(() => { const { canvas, options: { grid } } = ${chart};
                        const { left, top, height } = canvas.getBoundingClientRect();
                        const foot = height - Math.floor(height / grid.nRows) * grid.nRows;
                        return ${chart}.cellAt({ clientX: left + 65, clientY: top + height - foot - 3 }) - grid.nRows; })()`;
                assert.strictEqual(await page.value(lowest), -1);
                await page.resize(width, height - 200);
                await page.until(`innerHeight === ${height - 200}`);
                assert.strictEqual(await page.value(lowest), -1);
                await page.resize(width, height);
                await page.value(`${chart}.canvas.focus()`);
                await page.press('ArrowRight');
                await page.press('ArrowDown');
                await page.untilText(`${here} .heat-words`, /, for .*: (nothing|[\d,]+ samples)/);
                assert.deepStrictEqual(await page.value(`${chart}.options.chosen`), [51, 51]);
                await page.press('Enter');
                await page.untilText('[role=tab][aria-selected=true]', /Flame graph/);
                assert.deepStrictEqual(await page.value(`[hyprofViewer.state.from, hyprofViewer.state.to].map(Number).map((ns) =>
                        Math.round((ns - ${chart}.options.grid.begin_ns) / ${chart}.options.grid.row_ns))`), [51, 52]);
                await page.value(`hyprofViewer.set({ screen: 'heat', from: null, to: null, heat: 'longest', zone: '${handle}' })`);
                await page.untilText(`${here} .headline`, /^the longest '/);
                assert.strictEqual(await page.value(`${chart}.most`),
                        await page.value(`hyprofViewer.source.answer('zone', { zone: '${handle}' }).then(
                                (answer) => answer.slowest.rows[0].duration_ns)`));
                await page.value(`${chart}.canvas.focus()`);
                await page.press('ArrowDown');
                await page.click(`${here} button`, 'why some are slow');
                await page.untilText('[role=tab][aria-selected=true]', /Zones/);
        });
});

test('source: the whole text that the program handed over, beside the instructions', async () => {
        await withPage(['pool.hyp'], { fragment: '#screen=source&function=matmul_64_row' }, async (page) => {
                const lines = `${here} [role=grid][aria-label="source lines"]`;
                const code = `${here} [role=grid][aria-label=instructions]`;

                await page.untilText(lines, /func\.func private @matmul_64_row/);
                assert.match(await page.text(lines), /return %sum/, 'lines of another function of the file');
                assert.match(await page.text(here + ' .listing-side'), /kept in the trace/);
                await page.until(`document.querySelector(${JSON.stringify(code)} + ' .listing-arrows')`, 'arrows of jumps');
                await page.value(`document.querySelector(${JSON.stringify(lines)}).focus()`);
                await page.press('Home');
                for (let i = 0; i < 3; i++)
                        await page.press('ArrowDown');
                await page.until(`document.querySelector(${JSON.stringify(code)} + ' .marked')`, 'the instructions of the line');
                await page.click(code + ' button.link');
                await page.until(`document.querySelector(${JSON.stringify(code)} + ' .at')`);
        });
});

test('waits: by place, waker and lock; a lock leads to the timeline', async () => {
        await withPage(['why.hyp'], { fragment: '#screen=waits' }, async (page) => {
                await hasRow(page, 'Places and reasons', /take_queue/);
                await hasRow(page, 'Who ended them', /loader/);
                await hasRow(page, 'Held by, while others waited', /loader/);
                await page.click(here + ' [aria-label="Locks"] td', 'queue');
                await page.until('location.hash.includes("screen=timeline")');
        });
});

const notCounted = fs.existsSync(path.join(folder, 'calls.hyp')) ? false : 'system calls cannot be counted here';

test('waits: system calls that were counted, who called, and of which thread; elsewhere how to count them', { skip: notCounted },
        async () => {
                await withPage(['calls.hyp'], { fragment: '#screen=waits' }, async (page) => {
                        await hasRow(page, 'System calls', /pwritev\s+3,000\s/);
                        await hasRow(page, 'System calls', /unlink(at)?\s+5,000\s/);
                        await hasRow(page, 'Threads and their system calls', /readv.*reader/s);
                        await page.click(here + ' [aria-label="Threads and their system calls"] td', 'reader');
                        await page.until('/thread=t[0-9]+/.test(location.hash)');
                });
                await withPage(['why.hyp'], { fragment: '#screen=waits' }, async (page) => {
                        await page.untilText(here, /No system calls were counted in this part: hyprof record --syscalls/);
                });
        });

/** On the timeline: chooses what the worker did, or its zone, in the middle of the longest run of the hog. */
const chooseHogged = (kind) => `(async () => {
        const { STATE_PREEMPTED, STATE_RUNNING } = pageModules['model.js'];
        const viewer = hyprofViewer;
        const itemsOf = async (name, kind) => {
                const thread = viewer.model.threads.find((one) => one.name === name);
                const lane = viewer.model.tracksByThread.get(thread.id).lanes.find((one) => one.kind === kind);
                const items = (await viewer.source.lanes([lane.id], 0, viewer.model.duration_ns, 0)).get(lane.id);
                return { lane, list: Array.from({ length: items.n }, (_, i) =>
                        ({ begin_ns: items.begin[i], end_ns: items.end[i], what: items.what[i] })) };
        };
        const length = (one) => one.end_ns - one.begin_ns;
        const run = (await itemsOf('hog', 'states')).list.filter((one) => one.what >>> 28 === STATE_RUNNING)
                .reduce((best, one) => length(one) > length(best) ? one : best);
        const middle = (run.begin_ns + run.end_ns) / 2;
        const { lane, list } = await itemsOf('worker', '${kind}');
        const hogged = list.find((one) => one.begin_ns <= middle && middle < one.end_ns);

        hyprofShell.made.get('timeline').chooseFound(lane.id, hogged);
        return '${kind}' === 'zones' || hogged.what >>> 28 === STATE_PREEMPTED;
})()`;

/** A click on the hog among those who had the CPU leads to what it did there, whatever it did where the range begins. */
async function followHog(page) {
        const owners = '.panel [aria-label="Who had the CPU while it was ready to run"]';

        await page.until(`/hog/.test(document.querySelector(${JSON.stringify(owners)})?.innerText)`, 'the hog');
        await page.click(owners + ' td', 'hog');
        await page.until('/^running on CPU/.test(document.querySelector(".panel h2").innerText)', 'what the hog did');
}

test('timeline: who had the CPU while a thread was preempted, as a table; a click goes there', async () => {
        await withPage(['hog.hyp'], {}, async (page) => {
                assert.ok(await page.value(chooseHogged('states')));
                await page.until('/preempted on CPU/.test(document.querySelector(".panel h2").innerText)');
                await followHog(page);
                await page.value(chooseHogged('zones'));
                await page.until('/^request/.test(document.querySelector(".panel h2").innerText)');
                await followHog(page);
        });
});

test('info: what a thread did under each of its names', async () => {
        await withPage(['names.hyp'], { fragment: '#screen=info' }, async (page) => {
                for (const name of ['sh', 'env', 'true'])
                        await hasRow(page, 'Threads that had several names', new RegExp(`\\s${name}\\s`));
        });
});

test('memory: pools, what was in use at the peak, and the changes since another instant', async () => {
        await withPage(['every.hyp'], { fragment: '#screen=memory' }, async (page) => {
                await firstRow(page, 'Pools');
                await page.click(here + ' [aria-label="Pools"] td');
                await page.untilText(here, /In use at 0\.\d+ s/);
                const at = await page.value(`pageModules['format.js'].formatTime(hyprofViewer.number('at'))`);
                assert.deepStrictEqual((await firstRow(page, 'Allocations at ' + at)).slice(0, 3), ['64 B', '1', '[main]']);
                await page.click(here + ' label:nth-of-type(2) input');
                await page.type('1ns');
                await page.press('Enter');
                await page.until('location.hash.includes("beside=1")');
                assert.deepStrictEqual((await firstRow(page, 'Changes between the two instants')).slice(0, 4),
                        ['-64 B', '-1', '64 B', '0 B']);
        });
});

test('messages: a filter, and the way to the timeline by keyboard', async () => {
        await withPage(['every.hyp'], { fragment: '#screen=messages' }, async (page) => {
                await firstRow(page, 'Messages');
                await page.value(`document.querySelector(${JSON.stringify(here)} + ' .data-pane').focus()`);
                await page.press('Enter');
                await page.until('location.hash.includes("screen=timeline") && location.hash.includes("at=")');
                await page.until('document.querySelector(".panel:not([hidden])")', 'the panel of the message');
        });
});

test('frames: late ones are marked, on their screen and on the timeline', async () => {
        await withPage(['pool.hyp'], { fragment: '#screen=frames&budget=1' }, async (page) => {
                await firstRow(page, 'Frames');
                await page.until(`document.querySelector(${JSON.stringify(here)} +
                        ' .frame-bars canvas[aria-label$="late from 1 ns on"]')`, 'the bars of the frames');
                await page.click(here + ' [aria-label="Slowest frames"] td');
                await page.until('location.hash.includes("screen=timeline")');
                assert.strictEqual(await page.value(`hyprofShell.made.get('timeline').budgets.of('[main]')`), 1);
        });
});

test('counters and info: plots, totals, command, losses in the words of the report', async () => {
        await withPage(['pool.hyp'], { fragment: '#screen=counters' }, async (page) => {
                await page.until(`document.querySelector(${JSON.stringify(here)} + ' .plots canvas[aria-label^="queue depth"]')`);
                assert.match((await firstRow(page, 'Plots')).join(), /queue depth/);
                await openTab(page, 'Info');
                await page.untilText(here, /kernel_pool --mlir/);
                await page.untilText(here, /Losses and limits|nothing is known to be missing/);
        });
});

test('diff: verdicts, a flame graph of the difference, both histograms of a zone', async () => {
        await withPage(['every.hyp', 'every2.hyp'], {}, async (page) => {
                await openTab(page, 'Diff');
                await firstRow(page, 'Zones');
                await page.until(`document.querySelector(${JSON.stringify(here)} + ' .flame canvas')`, 'the flame graph');
                await page.click(here + ' [aria-label="Zones"] td');
                await page.until(`document.querySelector(${JSON.stringify(here)} + ' .histogram canvas')`, 'the histograms');
        });
});

test('timeline: pins and the order of tracks are remembered for the trace; the strip moves by keyboard', async () => {
        const pinned = `[...document.querySelectorAll('.timeline-pin')].filter((e) => e.getAttribute('aria-pressed') === 'true')
                .map((e) => e.getAttribute('aria-label'))`;

        await withPage(['why.hyp'], {}, async (page) => {
                await page.click('.timeline-pin[aria-label="pin queue"]');
                await page.until(`${pinned}.join() === 'unpin queue'`);
                await page.value('document.querySelector(".timeline-overview").focus()');
                await page.press('ArrowUp');
                await page.until('location.hash.includes("view_to=")');
        });
        await withPage(['why.hyp'], {}, async (page) => {
                await page.until(`${pinned}.join() === 'unpin queue'`, 'the pin of the last visit');
                await page.click('.timeline-pin[aria-label="unpin queue"]');
        });
});
