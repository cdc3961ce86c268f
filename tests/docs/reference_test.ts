import { assert, assertEquals } from "@std/assert";
import { ERROR_CODES } from "@sig/core";
import { SECTIONS } from "../../tools/reference/finding_page.ts";
import { ERROR_TEXTS } from "../../tools/reference/error_texts.ts";

const ROOT = new URL("../../", import.meta.url);

Deno.test("docs/reference is what its generator makes", async () => {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "check:docs"],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
});

Deno.test("every error code has a meaning and a next step", () => {
  assertEquals(Object.keys(ERROR_TEXTS), Object.keys(ERROR_CODES));
  for (const [code, { meaning, next }] of Object.entries(ERROR_TEXTS)) {
    for (const text of [meaning, next]) {
      assert(/^[A-Z`].*\.$/.test(text), `${code} needs whole sentences`);
    }
  }
});

Deno.test("each finding says when, why and how to mend, as parts of sentences", () => {
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

Deno.test("links between the documents lead somewhere", async () => {
  for (const path of await listDocuments()) {
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

async function listDocuments(): Promise<readonly string[]> {
  const found = ["README.md", "DESIGN.md", "CONTRIBUTING.md"];
  found.push("examples/README.md", "docs/reference/command-line.md");
  for await (const { name } of Deno.readDir(new URL("docs", ROOT))) {
    if (name.endsWith(".md")) found.push(`docs/${name}`);
  }
  return found;
}

/** As GitHub makes them. */
function toAnchor(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9 _-]/g, "").replaceAll(" ", "-");
}
