// SPDX-License-Identifier: MIT
// A trace, or two, that `hyprof view` serves.
'use strict';

const { spawn } = require('child_process');

/** Starts `hyprof view --no-open` with these words; resolves to its process, which the caller ends, and its address. */
function serveTrace(...words) {
        return new Promise((resolve, reject) => {
                const viewer = spawn(process.env.HYPROF, ['view', '--no-open', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
                let text = '';

                viewer.stdout.on('data', (bytes) => {
                        const found = /http:\/\/[0-9a-f]+\.localhost:\d+\/[0-9a-f]+\//.exec(text += bytes);

                        if (found)
                                resolve({ viewer, address: found[0] });
                });
                viewer.on('exit', () => reject(new Error('hyprof view ended: ' + text)));
        });
}

module.exports = { serveTrace };
