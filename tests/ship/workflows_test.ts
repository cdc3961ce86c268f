import { assert, assertEquals, assertMatch } from "@std/assert";
import { run } from "../kit/process.ts";
import { ROOT, VERSION } from "../../tools/workspace.ts";

const FOLDER = new URL(".github/workflows/", ROOT);
const WORKFLOWS = await Promise.all(
  [...Deno.readDirSync(FOLDER)].map(async ({ name }) => ({
    name,
    text: await Deno.readTextFile(new URL(name, FOLDER)),
  })),
);

Deno.test("workflows have no permission that a job does not name", () => {
  assertEquals(
    WORKFLOWS.map(({ name }) => name).sort(),
    ["publish.yml", "release.yml", "test.yml"],
  );
  for (const { name, text } of WORKFLOWS) {
    assertMatch(text, /^permissions: \{\}$/m, name);
    const given = [...text.matchAll(/^ {6}([\w-]+): write\b/gm)]
      .map(([, permission]) => permission);
    const least = {
      "test.yml": [],
      "publish.yml": ["id-token"],
      "release.yml": ["contents", "id-token", "attestations"],
    }[name];
    assertEquals(given, least, name);
  }
});

Deno.test("workflows run no code that can change behind their name, and know no secret", () => {
  for (const { name, text } of WORKFLOWS) {
    for (const [, action] of text.matchAll(/\buses: (.+)$/gm)) {
      assertMatch(action!, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/, name);
    }
    for (const [, version] of text.matchAll(/\bdeno@(\S+)/g)) {
      assertEquals(version, "2.9.6", name);
    }
    assert(!/\bsecrets\b|pull_request_target/.test(text), name);
    // A name that somebody chose must not become a part of a script.
    for (const [script] of text.matchAll(/^ +(?:- )?run: (?:.|\n {10})*/gm)) {
      assert(!script.includes("${{"), `${name}: ${script}`);
    }
  }
});

Deno.test("a tag that differs from a package's version is refused", async () => {
  const check = (tag: string) =>
    run(Deno.execPath(), [
      ...["run", "--no-prompt", "--allow-read", "tools/check_tag.ts"],
      tag,
    ], { cwd: ROOT });
  assertEquals((await check(`v${VERSION}`)).code, 0);
  const { code, stderr } = await check("v0.0.0");
  assertEquals(code, 1);
  assertMatch(
    stderr,
    /^Cannot release "v0\.0\.0": it is not the version of @sig\/core .+\n$/,
  );
});
