// SPDX-License-Identifier: MIT
// bench_view_page.js HYPROF TRACE [INPUTS=300 [WIDTHxHEIGHT=1400x900]] - how soon the page of `hyprof view` draws what a wheel, a drag or a key asks for
//
// Chromium without a screen.  Each input is given when the one before has been taken, so that zooming and moving run as under
// a person's hand.  From the input's time stamp to the end of its frame, measured in the page; the target is 50 ms for 95 of
// 100.  A frame shows what is there already: how long it takes until the view is as sharp as it becomes is shown apart, as is the
// memory of the page's heap and the peaks of the viewer's processes.
'use strict';

const { spawn } = require('child_process');
const fs = require('fs');
const { Chromium } = require('../browser/chromium.js');

const TARGET_MS = 50;
const INPUTS_A_TURN = 10;
const READY_MS = 600000;
const screen = 'hyprofShell.made.get("timeline")';
const isSharp = `(() => {
        const frame = ${screen}.frame();
        return frame && !${screen}.cache.isFetching && !${screen}.cache.wanted && !${screen}.isDrawAsked &&
                pageModules['timeline_rows.js'].rowsBetween(${screen}.layout.rows, frame.top, frame.height).every((row) => row.lanes.every((lane) =>
                        ${screen}.cache.has(lane.lane.id, frame.from, frame.to, frame.bucketLog2)));
})()`;

function startViewer(hyprof, trace) {
        const viewer = spawn(hyprof, ['view', '--no-open', '--quiet', trace], { stdio: ['ignore', 'pipe', 'inherit'] });
        return new Promise((resolve, reject) => {
                viewer.stdout.once('data', (text) => resolve({ viewer, url: text.toString().trim() }));
                viewer.once('exit', (status) => reject(new Error('hyprof view ended with ' + status)));
        });
}

async function untilWhole(page) {
        const end = Date.now() + READY_MS;
        while (!await page.value('window.hyprofShell && hyprofViewer.model.progress === 1 && Boolean(' + isSharp + ')')) {
                if (Date.now() > end)
                        throw new Error('the index is not whole');
                await new Promise((resolve) => setTimeout(resolve, 100));
        }
}

/** Ten inputs of one kind: in, sideways, by keys, by the mouse, and out again. */
async function turn(page, number, box) {
        const x = box.x + box.width * (0.2 + 0.6 * ((number * 7) % 11) / 10);
        const y = box.y + box.height * (0.2 + 0.6 * ((number * 5) % 7) / 6);
        const kind = number % 5;

        if (kind === 2) {
                await page.drag({ x, y }, { x: x + (number % 2 ? 300 : -300), y }, { steps: INPUTS_A_TURN });
                return;
        }
        for (let i = 0; i < INPUTS_A_TURN; i++) {
                if (kind === 3)
                        await page.press('adws'[(number + i) % 4]);
                else
                        await page.wheel(x, y, kind === 4 ? 350 : -200 - 20 * i);
        }
}

function percentiles(times) {
        times.sort((a, b) => a - b);
        const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
        return { median: at(0.5), p95: at(0.95), most: at(1) };
}

function words({ median, p95, most }) {
        return `median ${median.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, longest ${most.toFixed(1)} ms`;
}

/** The peaks of the memory of the viewer's processes, MB each. */
function peaksOf(pid) {
        const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
        return [String(pid), ...children].map((one) =>
                Math.round(Number(/VmHWM:\s*(\d+)/.exec(fs.readFileSync(`/proc/${one}/status`, 'utf8'))[1]) / 1024)).join(' + ');
}

async function main() {
        const [hyprof, trace, inputs, size] = process.argv.slice(2);
        const [width, height] = (size || '1400x900').split('x').map(Number);
        const nTurns = Math.ceil(Number(inputs || 300) / INPUTS_A_TURN);
        const { viewer, url } = await startViewer(hyprof, trace);
        const browser = await Chromium.start();
        try {
                const page = await browser.open(url, { width, height });
                await untilWhole(page);
                const box = await page.value(`(({ x, y, width, height }) => ({ x, y, width, height }))(${screen}.canvas.getBoundingClientRect())`);
                await page.clickAt(box.x + 5, box.y + box.height - 5);
                await page.press('Escape');
                await page.value(screen + '.delays.length = 0');
                const sharp = [];
                for (let i = 0; i < nTurns; i++) {
                        await turn(page, i, box);
                        const began = Date.now();
                        await page.until(isSharp, 'the view');
                        sharp.push(Date.now() - began);
                }
                const delays = await page.value(screen + '.delays');
                const drawn = percentiles(delays);
                console.log(`${nTurns * INPUTS_A_TURN} inputs in ${delays.length} frames, drawn after: ${words(drawn)} (target ${TARGET_MS})`);
                console.log(`sharp after each of ${nTurns} movements, asked every 20 ms: ${words(percentiles(sharp))}`);
                const heap = await page.value('performance.memory ? performance.memory.usedJSHeapSize / 1e6 : 0');
                console.log(`${width}x${height}: heap of the page ${heap.toFixed(1)} MB, viewer ${peaksOf(viewer.pid)} MB`);
                process.exitCode = drawn.p95 <= TARGET_MS ? 0 : 1;
        } finally {
                await browser.close();
                viewer.kill();
        }
}

main().catch((error) => {
        console.error(error);
        process.exit(1);
});
