// Two frames in flight: three frames with their barriers, of which the reader removes one. See docs/frame.md.
import { hazards } from "./math.js";
import { checkbox, controls, html, live, select, svg } from "./controls.js";

/** What can be removed, and what it orders. */
export const ARROWS = {
    W: "the wait of the CPU for the slot", 1: "copies before their readers", 2: "skinned vertices before vertex shaders",
    3: "shadow map before it is sampled", 4: "colour before tone mapping", 5: "shadow map of the frame before",
    6: "colour and depth of the frame before", 7: "last use of the output",
};
const GPU = ["TRANSFER", "COMPUTE", "VERTEX", "DEPTH", "FRAGMENT", "COLOUR"];
/** A frame in the order of its submission: accesses of passes (# is the slot), and barriers by their arrows. */
const FRAME = `
CPU     HOST            writes  staging #
S       HOST            ->      ${GPU}
upload  TRANSFER        reads   staging #
upload  TRANSFER        writes  streams #
1       TRANSFER        ->      COMPUTE,VERTEX
skin    COMPUTE         reads   streams #
skin    COMPUTE         writes  page #
2       COMPUTE         ->      VERTEX
5       DEPTH,FRAGMENT  ->      DEPTH           shadow map
shadow  VERTEX          reads   streams #
shadow  VERTEX          reads   page #
shadow  DEPTH           writes  shadow map
3       DEPTH           ->      FRAGMENT        shadow map
6       COLOUR,FRAGMENT ->      COLOUR          colour
6       DEPTH           ->      DEPTH           depth
draw    VERTEX          reads   streams #
draw    VERTEX          reads   page #
draw    FRAGMENT        reads   shadow map
draw    DEPTH           writes  depth
draw    COLOUR          writes  colour
4       COLOUR          ->      FRAGMENT        colour
7       COLOUR,TRANSFER ->      COLOUR          output
post    FRAGMENT        reads   colour
post    COLOUR          writes  output
copy    COLOUR          ->      TRANSFER        output
copy    TRANSFER        reads   output`;

/** Lists the accesses and dependencies of three frames, without those of one arrow. */
export function frameItems({ isStaged = true, isCopied = false, without = "" } = {}) {
    const unused = [...(isStaged ? [] : ["upload", "1"]), ...(isCopied ? [] : ["copy"]), without];
    const wait = { dependency: true, from: GPU, to: ["HOST"], ofFrame: 0 };
    const items = frame => FRAME.trim().split("\n").flatMap(line => {
        const [, pass, stage, verb, rest] = line.match(/(\S+) +(\S+) +(\S+) +(.*)/), [to, scope] = rest.split(/  +/);
        if (unused.includes(pass)) return [];
        if (verb === "->") return [{ dependency: true, from: stage.split(","), to: to.split(","), resource: scope }];
        const resource = rest.replace("#", frame % 2).replace("staging", isStaged ? "staging" : "streams");
        return [{ access: true, frame, pass: pass.replace("copy", "post"), stage, resource, isWrite: verb === "writes" }];
    });
    return [...items(0), ...items(1), ...(without === "W" ? [] : [wait]), ...items(2)];
}

// Places in the drawing: the top left corners of passes. Of frame 2, only the first two passes are drawn.
const PASSES = ["upload", "skin", "shadow", "draw", "post"];
const at = (frame, pass, x, y) => (pass === "CPU" ? [[70, 165, 650][frame] + x, 15 + y]
    : [[120, 215, 700][frame] + 95 * PASSES.indexOf(pass) + x, [90, 165, 240][frame] + y]);
const isDrawn = ({ frame, pass }) => frame < 2 || ["CPU", "upload", "skin"].includes(pass);
const head = (id, kind) => svg("marker",
    { id, class: kind, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" },
    svg("path", { d: "M0 0L8 4L0 8z" }));

/** One line for the passes of a frame that meet the same access. The next frame has the same hazards again. */
function lines(found) {
    const ends = new Map();
    for (const { name, first, second, isReported } of found) {
        const start = `${isReported ? "" : "The layer does not report this one: "}${name}: ${second.pass} `
            + `${second.isWrite ? "writes" : "reads"} the ${second.resource.replace(/ \d/, "")}, `
            + `${["", "one frame ", "two frames "][second.frame - first.frame]}after `;
        ends.set(start, (ends.get(start) ?? new Set()).add(`${first.pass} ${first.isWrite ? "wrote" : "read"} it`));
    }
    return [...ends].map(([start, passes]) => html("li", {}, `${start}${[...passes].join(", ")}.`));
}

export default function show() {
    const state = { isStaged: true, isCopied: false, without: "" }, result = live();
    const drawing = svg("svg", { viewBox: "60 5 805 275", class: "drawing", role: "img",
        "aria-label": "The passes of three frames, with an arrow for each barrier" });

    /** An arrow whose middle may be a corner. */
    function arrow(label, from, to, middle = from.map((x, k) => (x + to[k]) / 2)) {
        const isOut = label === state.without, d = `M${from}L${middle}L${to}`;
        const onclick = () => { if (label !== "S") remove(isOut ? "" : label); };
        return svg("g", { class: isOut ? "arrow removed" : "arrow", onclick },
            svg("path", { class: "wide", d }), svg("path", { d, "marker-end": "url(#figure-arrow)" }),
            svg("text", { x: middle[0] + (from[1] === to[1] ? -5 : 5), y: middle[1] - 5 }, label));
    }

    function update() {
        const passes = PASSES.filter(pass => state.isStaged || pass !== "upload"), boxes = [], arrows = [];
        for (const frame of [0, 1, 2]) {
            const own = passes.filter(pass => isDrawn({ frame, pass }));
            for (const pass of ["CPU", ...own]) {
                const [x, y] = at(frame, pass, 0, 0), post = state.isCopied ? "post, copy" : "post";
                boxes.push(svg("rect", { x, y, width: 60, height: 28, class: `slot${frame % 2}` }),
                    svg("text", { x: x + 30, y: y + 19, class: "mid" }, { CPU: `frame ${frame}`, post }[pass] ?? pass));
            }
            own.slice(1).forEach((pass, k) => arrows.push(
                arrow(String(PASSES.indexOf(pass)), at(frame, own[k], 60, 14), at(frame, pass, -2, 14))));
            const [from, to] = [at(frame, "CPU", 31, 28), at(frame, own[0], -2, 14)];
            arrows.push(arrow("S", from, to, [from[0], to[1]]));
        }
        for (const [label, first, second] of [["5", "draw", "shadow"], ["6", "post", "draw"], ["7", "post", "post"]]) {
            arrows.push(arrow(label, at(0, first, 30, 28), at(1, second, 30, -2)));
        }
        arrows.push(arrow("W", at(0, "post", 45, 0), at(2, "CPU", -2, 14), at(0, "post", 45, -61)));
        const found = hazards(frameItems(state));
        const drawn = found.filter(({ first, second }) => isDrawn(first) && isDrawn(second));
        const meetings = drawn.map(({ first, second, isReported }) => {
            const [from, to] = [at(first.frame, first.pass, 30, 14), at(second.frame, second.pass, 30, 14)];
            const d = `M${from}Q${[(from[0] + to[0]) / 2 + (to[1] - from[1]) / 3, (from[1] + to[1]) / 2 - 45]} ${to}`;
            return svg("path", { class: isReported ? "hazard" : "hazard silent", d, "marker-end": "url(#figure-hazard)" });
        });
        drawing.replaceChildren(svg("defs", {}, head("figure-arrow", "head"), head("figure-hazard", "head wrong")),
            svg("text", { x: 250, y: 34 }, "frame 2 culls, then waits for frame 0"), ...arrows, ...boxes, ...meetings);
        const why = state.without === "" ? "all reads and writes are ordered. Remove an arrow."
            : "this path does not need the arrow, or a chain of other barriers orders the same accesses.";
        result.replaceChildren(found.length > 0 ? html("ul", {}, ...lines(found)) : `No hazards: ${why}`);
    }

    const choices = [["", "nothing"], ...Object.entries(ARROWS).sort().map(([key, what]) => [key, `${key}: ${what}`])];
    const choose = select("remove", choices, "", remove);
    function remove(label) {
        state.without = label;
        choose.querySelector("select").value = label;
        update();
    }
    const flag = (name, label) => checkbox(label, state[name], isOn => { state[name] = isOn; update(); });
    update();
    return [controls(choose, flag("isStaged", "staged path"), flag("isCopied", "each picture is read back")),
        html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Time line" }, drawing), result];
}
