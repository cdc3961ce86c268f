import { assert, assertEquals } from "@std/assert";
import { ERROR_CODES } from "@sig/core";
import { SECTIONS } from "../../tools/reference/finding_page.ts";
import { runWell } from "../kit/process.ts";
import { ownFiles, ROOT } from "../../tools/workspace.ts";

Deno.test("docs/reference is up to date with its generator", async () => {
  await runWell(Deno.execPath(), ["task", "check:docs"], {
    ...{ cwd: ROOT, env: { NO_COLOR: "1" } },
  });
});

Deno.test("errors.md has category, status, meaning and next step of every code", async () => {
  const text = await Deno.readTextFile(
    new URL("docs/reference/errors.md", ROOT),
  );
  const found: string[] = [];
  for (const section of text.split(/^## /m).slice(1)) {
    const [, category = ""] = /^`(\w+)`\n/.exec(section) ?? [];
    for (const entry of section.split(/^- /m).slice(1)) {
      const words = entry.replaceAll(/\s+/g, " ").trim();
      const [, code = "", status = ""] =
        /^\*\*`(\w+)`\*\* \((\d+)\)\. [A-Z`].*\. _Next:_ [A-Z`].*\.$/
          .exec(words) ?? [];
      assert(code !== "", `not an entry: ${words}`);
      found.push(`${category} ${code} ${status}`);
    }
  }
  const expected = Object.entries(ERROR_CODES).map((
    [code, { category, status }],
  ) => `${category} ${code} ${status}`);
  assertEquals(found.toSorted(), expected.toSorted());
});

Deno.test("each finding has condition, reason and fix as parts of sentences", () => {
  for (
    const [code, { mend, when, why }] of SECTIONS.flatMap(([, , rows]) =>
      Object.entries(rows)
    )
  ) {
    assert(/^[A-Z`].*[^.]$/.test(when), `${code} needs its case`);
    assert(/^[A-Z].*[^.]$/.test(why), `${code} needs its reason`);
    assert(/^[A-Za-z].*[^.]$/.test(mend), `${code} needs its remedy`);
  }
});

Deno.test("links between the documents have existing targets", async () => {
  const documents = [...ownFiles()].filter((path) => path.endsWith(".md"));
  assert(documents.length > 20, `only ${documents.length} documents`);
  for (const path of documents) {
    const base = new URL(path, ROOT);
    const text = await Deno.readTextFile(base);
    for (const [, target = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [file = "", anchor] = target.split("#");
      const url = file === "" ? base : new URL(file, base);
      const found = await Deno.stat(url).catch(() => undefined);
      assert(found, `${path}: ${target} does not exist`);
      if (anchor === undefined) continue;
      const anchors = [
        ...(await Deno.readTextFile(url)).matchAll(/^#+ (.+)$/gm),
      ]
        .map(([, title = ""]) => toAnchor(title));
      assert(
        anchors.includes(anchor),
        `${path}: ${target} has no such heading`,
      );
    }
  }
});

/** Returns the anchor of a heading as GitHub generates it. */
function toAnchor(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9 _-]/g, "").replaceAll(" ", "-");
}
