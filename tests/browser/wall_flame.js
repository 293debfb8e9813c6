// SPDX-License-Identifier: MIT
// The flame graph of the wall time: samples and waits are one tree in nanoseconds, whose sums are those of the answers; a box
// has the color of what its threads did; the link has it.
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

const inPages = loadPages();
const calls = [[0, 1, 0, 'main'], [1, 0.75, 0.25, 'work'], [2, 0.5, 0.5, 'mul'], [1, 0.25, 0.25, 'load']].map(
        ([depth, total_share, self_share, name]) => ({ depth, total_share, self_share, function: name, handle: 'f' + name, module: 'a' }));
const places = [{ total_ns: 3e9, state: 'sleeping', place: 'work', callstack: ['futex_wait', 'work', 'main'] },
        { total_ns: 1e9, state: 'io', place: 'read', callstack: ['read', 'load', 'main'] }, { total_ns: 5e8, state: 'unknown' }];
const offCpu = { schema: 'hyprof.off_cpu/2', waiting_ns: 5e9, preempted_ns: 1e9, n_waits: 3, warnings: [], places: { rows: places } };
const overview = (unit) => ({ schema: 'hyprof.report/3', warnings: [], sample_events: { rows: [{ name: 'an event', unit, weight: 4e9,
        shown: true }] } });
const threads = { schema: 'hyprof.threads/2', warnings: [], threads: { rows: [1.5e9, 5e8, null].map((on_cpu_ns) => ({ on_cpu_ns })) } };
const answers = (unit) => ({ top_down: { schema: 'hyprof.top_down/1', event: 'an event', n_samples: 4, warnings: [],
        top_down: { rows: calls } }, off_cpu: offCpu, overview: overview(unit), threads });
const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-wall-'));
const graph = 'hyprofShell.made.get("flame").graph';
let browser;

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

/** "name total waiting self" of each node, in milliseconds. */
function linesOf(node, indent = '') {
        const ms = (ns) => Math.round(ns / 1e6);
        return [`${indent}${node.name} ${ms(node.value)} ${ms(node.waiting)} ${ms(node.self)}`,
                ...node.children.flatMap((child) => linesOf(child, indent + ' '))];
}

test('samples and waits are one tree: each box has both of its times', () => {
        const root = inPages('wallTree')(calls, 4e9, offCpu, places);
        assert.deepStrictEqual(linesOf(root), ['all 9500 5500 0', ' main 8000 4000 0', '  work 6000 3000 1000', '   mul 2000 0 2000',
                '   futex_wait 3000 3000 0', '    [sleeping] 3000 3000 3000', '  load 2000 1000 1000', '   read 1000 1000 0',
                '    [io] 1000 1000 1000', ' [not recorded] 500 500 0', '  [unknown] 500 500 500', ' [preempted] 1000 1000 1000']);
        assert.strictEqual(root.children[0].children[0].handle, 'fwork');
        assert.deepStrictEqual(linesOf(inPages('wallTree')([], 0, { preempted_ns: null }, [])), ['all 0 0 0']);
});

async function withPage(unit, fragment, action) {
        const file = path.join(folder, unit + '.html');
        fs.writeFileSync(file, makePage(new FakeTrace().dataElements(answers(unit))));
        const page = await browser.open('file://' + file + fragment);
        try {
                await action(page);
                page.noComplaints();
        } finally {
                await page.close();
        }
}

/** The color of a box: red, green, blue. */
const colorOf = (name) => `${graph}.colorsOf(${graph}.boxes.find((one) => one.node?.name === ${JSON.stringify(name)}).node, false)
        .fill.match(/\\d+/g).map(Number)`;

test('the page draws it: warm on a CPU, blue where threads waited, and says what it is of', async () => {
        await withPage('ns', '#screen=flame&metric=wall', async (page) => {
                await page.untilText('[role=tabpanel]:not([hidden])',
                        /4\.00 s on CPUs \(samples of an event\), 5\.00 s waiting, 1\.00 s preempted; 500 ms of the waiting/);
                await page.until(`${graph}.boxes.length >= 11`, 'its boxes');
                const [mul, wait, work] = [await page.value(colorOf('mul')), await page.value(colorOf('futex_wait')),
                        await page.value(colorOf('work'))];
                assert.ok(mul[0] > mul[2] && wait[2] > wait[0], 'warm and blue: ' + JSON.stringify([mul, wait]));
                assert.ok(mul[0] > work[0] && work[0] > wait[0], 'between: ' + JSON.stringify(work));
                assert.match(await page.value(`${graph}.describe(${graph}.options.root.children[0].children[0])`),
                        /^work: 6\.00 s \(63\.2%\), self 1\.00 s, 50\.0% of it not running/);
        });
});

test('samples that do not measure time stand for what context switches say', async () => {
        await withPage('cycles', '#screen=flame&metric=wall', async (page) => {
                await page.untilText('[role=tabpanel]:not([hidden])', /2\.00 s on CPUs \(by context switches, divided by an event\)/);
        });
});
