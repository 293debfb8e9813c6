// SPDX-License-Identifier: MIT
/*
 * flame_layout.js - a call tree as rows of boxes, without a page
 *
 * Way of the data:  answers: callTree() -> [flame_layout] -> flame_graph
 *
 * The width of a box is its node's share of the node in focus; nodes around the focus are as wide as the picture.
 * Boxes narrower than a limit are left out with everything inside, and drawn together as one grey box.
 */

/** @typedef {import('./answers.js').CallNode} CallNode */

/**
 * @typedef {object} FlameBox
 * @property {CallNode|null} node   null = several, too narrow for boxes of their own
 * @property {number} x             0 .. 1
 * @property {number} width
 * @property {number} row           0 = the root
 * @property {number} count         nodes in it
 */

/**
 * The nodes from the root to one, the root first.
 * @param {CallNode} node
 */
export function flamePath(node) {
        const path = [];

        for (let at = /** @type {CallNode|null} */ (node); at; at = at.parent)
                path.unshift(at);
        return path;
}

/**
 * flameLayout() - boxes of what is in focus
 * @param {CallNode} focus
 * @param {number} narrowest  share of the picture below which boxes are joined
 * @returns {{ boxes: FlameBox[], n_rows: number }}
 */
export function flameLayout(focus, narrowest) {
        /** @type {FlameBox[]} */
        const boxes = [];
        const path = flamePath(focus);
        let rows = path.length;

        path.forEach((node, row) => boxes.push({ node, x: 0, width: 1, row, count: 1 }));
        if (focus.value <= 0)
                return { boxes, n_rows: rows };
        /** @type {{ node: CallNode, x: number, row: number }[]} */
        const left = [{ node: focus, x: 0, row: path.length - 1 }];
        for (let at = left.pop(); at; at = left.pop()) {
                const row = at.row + 1;
                let x = at.x;
                let rest = 0;
                let count = 0;
                const children = [...at.node.children].sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));

                for (const child of children) {
                        const width = child.value / focus.value;

                        if (width < narrowest) {
                                rest += width;
                                count++;
                                continue;
                        }
                        boxes.push({ node: child, x, width, row, count: 1 });
                        left.push({ node: child, x, row });
                        x += width;
                        rows = Math.max(rows, row + 1);
                }
                if (count > 0 && rest > 0) {
                        boxes.push({ node: null, x, width: rest, row, count });
                        rows = Math.max(rows, row + 1);
                }
        }
        return { boxes, n_rows: rows };
}

/**
 * setRatios() - gives each node its ratio: the value of the other tree at the same path, divided by its own,
 * times `scale`
 * @param {CallNode} root
 * @param {CallNode} other
 * @param {number} scale
 */
export function setRatios(root, other, scale) {
        /** @type {[CallNode, CallNode|undefined][]} */
        const left = [[root, other]];

        for (let pair = left.pop(); pair; pair = left.pop()) {
                const [node, beside] = pair;

                node.row.ratio = beside && node.value > 0 ? beside.value / node.value * scale : null;
                for (const child of node.children)
                        left.push([child, beside?.children.find((one) => one.name === child.name && one.module === child.module)]);
        }
}
