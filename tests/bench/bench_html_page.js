// SPDX-License-Identifier: MIT
// bench_html_page.js FILE... - how much of the page's main thread an HTML file of `hyprof html` takes until it is drawn
//
// Chromium without a screen, from file://.  Counted: all tasks of the page's main thread from the navigation until every
// visible lane is drawn in the view's own resolution; the target is 1 s.  Five turns, each in a tab of its own.
'use strict';

const path = require('path');
const { Chromium } = require('../browser/chromium.js');

const TARGET_S = 1;
const N_TURNS = 5;
const isDrawn = `window.hyprofShell && (() => {
        const screen = hyprofShell.made.get("timeline");
        const frame = screen && screen.frame();
        return frame && !screen.cache.isFetching && !screen.cache.wanted && !screen.isDrawAsked &&
                pageModules['timeline_rows.js'].rowsBetween(screen.layout.rows, frame.top, frame.height).every((row) => row.lanes.every((lane) =>
                        screen.cache.has(lane.lane.id, frame.from, frame.to, frame.bucketLog2)));
})()`;

async function metrics(page) {
        const { metrics } = await page.call('Performance.getMetrics');
        return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

async function measure(browser, url) {
        const page = await browser.open('about:blank');
        try {
                await page.call('Performance.enable', { timeDomain: 'threadTicks' });
                const before = await metrics(page);
                const began = Date.now();
                await page.go(url);
                await page.until(isDrawn, 'the timeline');
                const passed = (Date.now() - began) / 1000;
                const after = await metrics(page);
                page.noComplaints();
                /* A navigation may begin with a new process, whose sums begin at 0. */
                const spent = (name) => after[name] >= before[name] ? after[name] - before[name] : after[name];
                return { task: spent('TaskDuration'), script: spent('ScriptDuration'), passed, heap: after.JSHeapUsedSize / 1e6 };
        } finally {
                await page.close();
        }
}

async function main() {
        const browser = await Chromium.start();
        try {
                for (const file of process.argv.slice(2)) {
                        const turns = [];
                        for (let i = 0; i < N_TURNS; i++)
                                turns.push(await measure(browser, 'file://' + path.resolve(file)));
                        turns.sort((a, b) => a.task - b.task);
                        const middle = turns[N_TURNS >> 1];
                        console.log(`${path.basename(file)}: main thread ${middle.task.toFixed(2)} s, of it scripts ${middle.script.toFixed(2)} s ` +
                                `(target ${TARGET_S}; longest of ${N_TURNS}: ${turns[N_TURNS - 1].task.toFixed(2)} s); ` +
                                `drawn after ${middle.passed.toFixed(2)} s; heap ${middle.heap.toFixed(0)} MB`);
                        if (middle.task > TARGET_S)
                                process.exitCode = 1;
                }
        } finally {
                await browser.close();
        }
}

main().catch((error) => {
        console.error(error);
        process.exit(1);
});
