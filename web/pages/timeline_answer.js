// SPDX-License-Identifier: MIT
/*
 * timeline_answer.js - the first sentence of `hyprof report`, above the timeline
 *
 * Way of the data:  source.answer('overview') -> [timeline_answer] -> screen_timeline
 *
 * It is about the whole recording; while that runs, or cannot be answered, there is no line.
 */

import { el } from './dom.js';

/** @typedef {import('./viewer.js').Viewer} Viewer */

/** @param {Viewer} viewer @param {Promise<void>} ready  nothing is asked before that */
export function answerLine(viewer, ready) {
        const line = el('p', { class: 'timeline-answer', hidden: true });
        let isAsked = false;
        const ask = async () => {
                if (isAsked || viewer.model.isLive || viewer.model.progress < 1)
                        return;
                isAsked = true;
                await ready;
                const { answer } = await viewer.source.answer('overview', {}).catch(() => ({ answer: '' }));

                line.textContent = line.title = answer || '';
                line.hidden = !answer;
        };

        viewer.on('model', ask);
        ask();
        return line;
}
