// SPDX-License-Identifier: MIT
/*
 * wall_tree.js - time on a CPU and waiting as one call tree, without a page
 *
 * Way of the data:  the answers top_down and off_cpu -> [wall_tree] -> the screen Flame graph
 *
 * A wait has a box of its own below its call stack: what it was.  The two answers name functions alike; one name in
 * several modules is one box.
 */

import { callTree } from './answers.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./answers.js').AnswerRow} AnswerRow
 * @typedef {import('./answers.js').CallNode} CallNode
 */

/** @param {string} name @param {CallNode|null} parent @param {AnswerRow} row @returns {CallNode} */
function newNode(name, parent, row) {
        return { name, handle: null, module: '', value: 0, self: 0, before: null, waiting: 0, children: [], parent, row };
}

/**
 * Adds time to a node and to all that call it.
 * @param {CallNode} node
 * @param {number} ns
 * @param {number} waiting  of it
 */
function addTime(node, ns, waiting) {
        for (let at = /** @type {CallNode|null} */ (node); at; at = at.parent) {
                at.value += ns;
                at.waiting = (at.waiting ?? 0) + waiting;
        }
}

/** @param {CallNode} parent @param {string} name @param {AnswerRow} row */
function childOf(parent, name, row) {
        let child = parent.children.find((one) => one.name === name);

        if (!child)
                parent.children.push(child = newNode(name, parent, row));
        return child;
}

/** @param {CallNode} to @param {CallNode} from  a tree of shares @param {number} ns  of the whole */
function addCalls(to, from, ns) {
        const self = from.self * ns;

        if (self > 0) {
                to.self += self;
                addTime(to, self, 0);
        }
        for (const child of from.children) {
                const node = childOf(to, child.name, child.row);

                node.handle = node.handle ?? child.handle;
                node.module = node.module || child.module;
                addCalls(node, child, ns);
        }
}

/**
 * wallTree() - a tree in nanoseconds; `waiting` of a node is the part in which threads did not run
 * @param {AnswerRow[]} calls  of top_down: shares
 * @param {number} onCpu_ns    that they are shares of
 * @param {Answer} offCpu
 * @param {AnswerRow[]} places  of off_cpu
 * @returns {CallNode}
 */
export function wallTree(calls, onCpu_ns, offCpu, places) {
        const root = newNode('all', null, {});

        addCalls(root, callTree(calls, { value: 'total_share' }, 'all'), onCpu_ns);
        for (const row of places) {
                let node = root;

                for (const name of row.callstack ? [...row.callstack].reverse() : [row.place ?? row.zones ?? '[not recorded]'])
                        node = childOf(node, name, row);
                node = childOf(node, `[${row.state ?? 'waiting'}]`, row);
                node.self += row.total_ns;
                addTime(node, row.total_ns, row.total_ns);
        }
        if (offCpu.preempted_ns > 0) {
                const node = childOf(root, '[preempted]', {});

                node.self = offCpu.preempted_ns;
                addTime(node, offCpu.preempted_ns, offCpu.preempted_ns);
        }
        return root;
}
