// `node --test tests/figures/` compares the figures with the rest of the repository, and makes mistakes in copies of them.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import test from "node:test";

import { CHECKS, FIGURES, text, withModules } from "./checks.mjs";
import { MUTATIONS } from "./mutations.mjs";

for (const [name, check] of Object.entries(CHECKS)) test(name, () => withModules(check));

test("a mistake in a figure is found", async t => {
    assert.ok(MUTATIONS.length >= 10);
    for (const mutation of MUTATIONS) {
        await t.test(mutation.what, () => withModules(modules => {
            const failed = Object.values(CHECKS).filter(check => {
                try {
                    check(modules);
                    return false;
                } catch (error) {
                    assert.equal(error.code, "ERR_ASSERTION", `${error}`);
                    return true;
                }
            });
            assert.ok(failed.length > 0, "no check fails");
        }, mutation));
    }
});

const files = readdirSync(FIGURES).filter(file => file.endsWith(".js"));

test("the scripts stay small, and load nothing from elsewhere", () => {
    const lines = files.flatMap(file => text("docs/figures", file).trimEnd().split("\n"));
    assert.ok(lines.length <= 900, `${lines.length} lines`);
    for (const line of lines) {
        assert.ok(line.length <= 128, line);
        assert.ok(!/\/\/[a-z]+\./.test(line) || line.includes("http://www.w3.org/2000/svg"), line);
    }
    assert.ok(!/url\(|@import/.test(text("docs/figures/figures.css")));
});

test("each figure is on a page, and each figure of a page has a script", () => {
    const pages = readdirSync(new URL("../../docs", import.meta.url)).filter(file => file.endsWith(".md"));
    const used = pages.flatMap(page => [...text("docs", page).matchAll(/data-figure="(\w+)"/g)].map(match => match[1]));
    const shown = files.filter(file => text("docs/figures", file).includes("export default")).map(file => file.slice(0, -3));
    assert.deepEqual([...new Set(used)].sort(), shown.sort());
});
