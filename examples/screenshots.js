// SPDX-License-Identifier: MIT
// Pictures of the viewer's screens: node examples/screenshots.js TRACE FOLDER [NAME FRAGMENT | NAME zone:ZONE]; HYPROF is the
// program.  zone:ZONE is the path of one of its longest instances.  Without a name they are those of the example's trace.
'use strict';

const path = require('path');
const { spawn, execFileSync } = require('child_process');
const { Chromium } = require('../tests/browser/chromium.js');

const [trace, folder, only, fragmentOfOnly] = process.argv.slice(2);
const hyprof = process.env.HYPROF;

function answer(...words) {
        return JSON.parse(execFileSync(hyprof, [...words, '--json', '--limit', '0', trace], { maxBuffer: 1 << 28 }));
}

/** Begins the viewer; resolves to its address. */
function serve(viewer) {
        return new Promise((resolve, reject) => {
                let text = '';

                viewer.stdout.on('data', (bytes) => {
                        text += bytes;
                        const found = /http:\/\/\S+\/[0-9a-f]+\//.exec(text);

                        if (found)
                                resolve(found[0]);
                });
                viewer.on('exit', () => reject(new Error(text)));
        });
}

/** The screens of the example, by the names of their pictures. */
function exampleScreens() {
        const slow = answer('report', '--zone', 'task').slowest.rows[0];
        const hottest = answer('report', '--functions').functions.rows[0].handle;
        const zone = answer('report', '--zones').zones.rows[0].handle;
        return {
                timeline: `screen=timeline&view_from=${slow.at_ns - 6e6}&view_to=${Math.round(slow.at_ns + Math.max(18e6, 1.3 * slow.duration_ns))}&at=${slow.at_ns}&at_thread=${slow.thread}`,
                zones: `screen=zones&zone=${zone}`,
                flame: 'screen=flame&shape=zones',
                source: `screen=source&function=${hottest}`,
                frames: 'screen=frames',
                functions: 'screen=functions',
                wall: 'screen=flame&metric=wall',
                heat: 'screen=heat',
                waits: 'screen=waits',
                counters: 'screen=counters',
                info: 'screen=info',
        };
}

/** Who delayed one of the longest instances of a zone, if possible one in which no other program had the CPUs. */
function pathScreen(name) {
        const rows = answer('report', '--zone', name).slowest.rows;
        const pathOf = (row) => answer('path', '--zone', name, '--thread', row.thread, '--at', `${row.at_ns}ns`);
        const slow = rows.find((row) => pathOf(row).machine_share < 0.1) ?? rows[0];
        const zone = answer('report', '--zones').zones.rows.find((row) => row.name === name).handle;
        return `screen=timeline&at=${slow.at_ns}&at_thread=${slow.thread}&path=${zone}`;
}

async function main() {
        const zone = fragmentOfOnly?.startsWith('zone:') ? fragmentOfOnly.slice('zone:'.length) : null;
        const pictures = !only ? exampleScreens() : { [only]: zone ? pathScreen(zone) : fragmentOfOnly };
        const viewer = spawn(hyprof, ['view', '--no-open', trace], { stdio: ['ignore', 'pipe', 'inherit'] });
        const address = await serve(viewer);
        const browser = await Chromium.start();

        for (const [name, fragment] of Object.entries(pictures)) {
                const page = await browser.open(`${address}#${fragment}`, { width: 1280, height: 800, isDark: name === 'flame' });

                await page.until('document.querySelector("[role=tabpanel]:not([hidden])")');
                await page.until('!document.querySelector("[aria-busy=true]")');
                await new Promise((resolve) => setTimeout(resolve, 1500));
                await page.screenshot(path.join(folder, `viewer-${name}.png`));
                await page.close();
        }
        await browser.close();
        viewer.removeAllListeners('exit');
        viewer.kill('SIGINT');
}

main().catch((error) => {
        console.error(error);
        process.exit(1);
});
