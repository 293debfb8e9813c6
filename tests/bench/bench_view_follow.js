// SPDX-License-Identifier: MIT
// bench_view_follow.js HYPROF PROGRAM FOLDER [SECONDS=120 [ZONES_A_SECOND=5000000]] - a page that follows a recording: memory, and cost
//
// PROGRAM is burst_program, which emits the zones in two threads.  The recorder's processor time is its own, without the end
// of the recording: alone for a quarter of the time, then followed by a page.  Memory: the heap of the
// page after a collection, and the anonymous memory of the server.  Ten looks at each; it is flat if the second half
// of them needs no more than a tenth, and 2 MB, more than the first half.
'use strict';

const { spawn } = require('child_process');
const fs = require('fs');
const path = require('path');
const { Chromium } = require('../browser/chromium.js');

const COST_TARGET = 0.03;
const LOOKS = 10;
const SETTLED_S = 5;
const TICKS_A_SECOND = 100;
const wait = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** Seconds of processor time. */
function spentBy(pid) {
        const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
        return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

function sum(numbers) {
        return numbers.reduce((a, b) => a + b, 0);
}

/** MB of the viewer and its children. */
function memoryOf(pid) {
        const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
        return sum([pid, ...children].map((one) =>
                Number(/Anonymous:\s*(\d+)/.exec(fs.readFileSync(`/proc/${one}/smaps_rollup`, 'utf8'))[1]))) / 1024;
}

function spentByAll(pid) {
        const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
        return sum([pid, ...children].map(spentBy));
}

class Recording {
        constructor({ hyprof, program, rate, folder }, name, seconds) {
                this.trace = path.join(folder, name + '.hyp');
                this.process = spawn(hyprof, ['record', '-q', '--no-symbolize', '-o', this.trace, '--', program, 'paced', rate / 2,
                        seconds, '2'].map(String), { stdio: ['ignore', 'ignore', 'inherit'] });
                this.ended = new Promise((resolve) => this.process.on('exit', resolve));
        }

        /** Resolves when there is a trace and the recorder has settled. */
        async settled() {
                while (!fs.existsSync(this.trace) || fs.statSync(this.trace).size === 0)
                        await wait(0.05);
                await wait(SETTLED_S);
        }

        /** The share of a core that the recorder has while something is done. */
        async costWhile(action) {
                const [spent, began] = [spentBy(this.process.pid), process.hrtime.bigint()];
                await action();
                return (spentBy(this.process.pid) - spent) / (Number(process.hrtime.bigint() - began) / 1e9);
        }
}

function startFollower(hyprof, trace) {
        const viewer = spawn(hyprof, ['view', '--follow', '--no-open', trace], { stdio: ['ignore', 'pipe', 'inherit'] });
        return new Promise((resolve, reject) => {
                let text = '';
                viewer.stdout.on('data', (bytes) => {
                        text += bytes;
                        const found = /^http\S+/m.exec(text);
                        if (found)
                                resolve({ viewer, url: found[0] });
                });
                viewer.once('exit', (status) => reject(new Error('hyprof view ended with ' + status)));
        });
}

/** The page's heap and the server's memory, MB, and how far the page is behind, seconds. */
async function look(page, viewer, began) {
        await page.call('HeapProfiler.collectGarbage');
        const { usedSize } = await page.call('Runtime.getHeapUsage');
        const reached = await page.value('hyprofViewer.model.duration_ns / 1e9');
        return { page: usedSize / 1e6, server: memoryOf(viewer.pid), behind: (Date.now() - began) / 1000 - reached };
}

/** Whether the second half is no larger than the first. */
function isFlat(values) {
        const half = values.length >> 1;
        return sum(values.slice(half)) / half <= sum(values.slice(0, half)) / half * 1.1 + 2;
}

async function follow(setting, seconds) {
        const recording = new Recording(setting, 'followed', seconds + 4 * SETTLED_S);
        const began = Date.now();
        await recording.settled();
        const browser = await Chromium.start();
        const { viewer, url } = await startFollower(setting.hyprof, recording.trace);
        const looks = [];
        try {
                const page = await browser.open(url, { width: 1920, height: 1080 });
                await page.until('window.hyprofViewer && hyprofViewer.model.isLive && hyprofViewer.model.tracks.length > 0', 'the tracks');
                await wait(SETTLED_S);
                const [spent, since] = [spentByAll(viewer.pid), Date.now()];
                const cost = await recording.costWhile(async () => {
                        for (let i = 0; i < LOOKS; i++) {
                                await wait(seconds / LOOKS);
                                looks.push(await look(page, viewer, began));
                        }
                });
                return { cost, looks, server: (spentByAll(viewer.pid) - spent) / ((Date.now() - since) / 1000) };
        } finally {
                await browser.close();
                viewer.removeAllListeners('exit');
                viewer.kill();
                recording.process.kill('SIGINT');
                await recording.ended;
        }
}

async function main() {
        const [hyprof, program, folder, seconds, rate] = process.argv.slice(2);
        const setting = { hyprof, program, folder, rate: Number(rate || 5000000) };
        const length = Number(seconds || 120);
        const alone = new Recording(setting, 'alone', length / 4 + 2 * SETTLED_S);
        await alone.settled();
        const before = await alone.costWhile(() => wait(length / 4));
        alone.process.kill('SIGINT');
        await alone.ended;
        fs.rmSync(alone.trace, { force: true });
        const { cost, looks, server } = await follow(setting, length);
        const percent = (share) => `${(share * 100).toFixed(1)}%`;
        const of = (name) => looks.map((one) => one[name]);
        const list = (name) => of(name).map((value) => value.toFixed(1)).join(' ');

        console.log(`followed for ${length} s, ${setting.rate / 1e6} million zones a second: the recorder takes ${percent(before)} of a core ` +
                `alone, ${percent(cost)} followed (target ${percent(COST_TARGET)} more); the viewer ${percent(server)}`);
        console.log(`heap of the page, MB: ${list('page')}`);
        console.log(`memory of the viewer, MB: ${list('server')}`);
        console.log(`behind the recording, s: ${list('behind')}`);
        process.exitCode = cost - before <= COST_TARGET && isFlat(of('page')) && isFlat(of('server')) ? 0 : 1;
}

main().catch((error) => {
        console.error(error);
        process.exit(1);
});
