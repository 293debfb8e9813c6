// SPDX-License-Identifier: MIT
/*
 * cause_steps.js - why cores did not run the program, step by step: the table `steps` of `hyprof report --idle
 * --histogram`, by number; without a page
 *
 * Way of the data:  source.answer('idle') -> [cause_steps] -> timeline_causes, timeline_paint, timeline_parallel
 *
 * The words of the causes are those of the report.
 */

import { answerRows } from './answers.js';
import { lowerBound } from './lanes.js';

/** @typedef {import('./answers.js').Answer} Answer */

/** From the bottom of the strip to its top; the last one also stands for causes that this page does not know. */
export const CAUSES = ['run', 'lock', 'timer', 'disk', 'network', 'interrupt', 'unrecorded', 'too-few-threads', 'not-ended', 'quota',
                       'ready', 'others', 'unknown'];

/**
 * @typedef {{ n: number, begin: Float64Array, end: Float64Array, running: Float64Array, cores: Float64Array,
 *             note: string }} CauseSteps  `running`: cores that ran the program; `cores`: those that did not, by step and
 *             cause; `note`: with which option of record more would be known
 */

/**
 * The steps of an answer, which come in the order of time.
 * @param {Answer} answer
 * @returns {CauseSteps}
 */
export function causeStepsOf(answer) {
        const rows = answerRows(answer, 'steps');
        /** The first row of each step. */
        const firsts = rows.filter((row, i) => i === 0 || rows[i - 1].at_ns !== row.at_ns);
        const cores = new Float64Array(firsts.length * CAUSES.length);
        let step = -1;

        rows.forEach((row, i) => {
                const known = CAUSES.indexOf(row.cause);

                if (i === 0 || rows[i - 1].at_ns !== row.at_ns)
                        step++;
                if (row.cause !== null)
                        cores[step * CAUSES.length + (known < 0 ? CAUSES.length - 1 : known)] += row.cores;
        });
        return { n: firsts.length, begin: Float64Array.from(firsts, (row) => row.at_ns),
                 end: Float64Array.from(firsts, (row) => row.at_ns + row.ns),
                 running: Float64Array.from(firsts, (row) => row.running), cores,
                 note: (answer.warnings ?? []).filter((words) => /--idle|--off-cpu/.test(words)).join('; ') };
}

/**
 * The means between two instants, of the steps that lie there.
 * @typedef {{ begin: number, end: number, running: number, cores: number[] }} CauseMix  `begin`, `end`: of these steps;
 *             `cores`: by cause
 */

/**
 * mixOfCauses() - each step counts for its part between the two instants
 * @param {CauseSteps} steps
 * @param {number} from
 * @param {number} to
 * @returns {CauseMix|null} null where no step is
 */
export function mixOfCauses(steps, from, to) {
        const mix = { begin: NaN, end: NaN, running: 0, cores: new Array(CAUSES.length).fill(0) };
        let ns = 0;

        for (let i = Math.max(0, lowerBound(steps.begin, from, 0, steps.n) - 1); i < steps.n && steps.begin[i] < to; i++) {
                const part = Math.min(to, steps.end[i]) - Math.max(from, steps.begin[i]);

                if (part <= 0)
                        continue;
                mix.begin = ns === 0 ? steps.begin[i] : mix.begin;
                mix.end = steps.end[i];
                mix.running += steps.running[i] * part;
                for (let cause = 0; cause < CAUSES.length; cause++)
                        mix.cores[cause] += steps.cores[i * CAUSES.length + cause] * part;
                ns += part;
        }
        if (ns === 0)
                return null;
        mix.running /= ns;
        mix.cores = mix.cores.map((sum) => sum / ns);
        return mix;
}
