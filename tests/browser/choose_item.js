// SPDX-License-Identifier: MIT
// Chooses an item on the timeline of a page, as a click does.
'use strict';

const timeline = 'hyprofShell.made.get("timeline")';

/** The one that begins at an instant, on the outermost lane of a kind in the row whose title begins so. */
async function chooseItem(page, title, kind, ns) {
        await page.value(`(async () => {
                const screen = ${timeline};
                const lane = screen.layout.rows.find((one) => one.title.startsWith(${JSON.stringify(title)})).lanes
                        .find((one) => one.lane.kind === ${JSON.stringify(kind)} && one.lane.depth === 0);
                screen.chooseFound(lane.lane.id, await screen.viewer.source.find([lane.lane.id], ${ns} - 1, 'next', null));
        })()`);
        await page.until(timeline + '.chosen && ' + timeline + '.chosen.begin === ' + ns, title + ' at ' + ns);
}

module.exports = { chooseItem };
