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
const PREPARE = {
  name: "prepare",
  text: await Deno.readTextFile(
    new URL(".github/actions/prepare/action.yml", ROOT),
  ),
};

Deno.test("workflows have only permissions that a job lists", () => {
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

Deno.test("workflows pin actions by commit and use no secrets", () => {
  for (const { name, text } of [...WORKFLOWS, PREPARE]) {
    for (const [, action] of text.matchAll(/\buses: (.+)$/gm)) {
      // Actions of the checked-out commit.
      if (action === "./.github/actions/prepare") continue;
      assertMatch(action!, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/, name);
    }
    for (const [, version] of text.matchAll(/\bdeno@(\S+)/g)) {
      assertEquals(version, "2.9.6", name);
    }
    assert(!/\bsecrets\b|pull_request_target/.test(text), name);
    // User-controlled names must not become part of a script.
    for (const [script] of text.matchAll(/^ +(?:- )?run: (?:.|\n {8,})*/gm)) {
      assert(!script.includes("${{"), `${name}: ${script}`);
    }
  }
});

Deno.test("workflows run every check, with external vectors and without skips, before they publish", () => {
  for (const { name, text } of WORKFLOWS) {
    const [, after] = text.split("uses: ./.github/actions/prepare\n");
    const command = `npx -y deno@2.9.6 task ${name.replace(".yml", "")}`;
    assert(after?.split("\n").some((line) => line.endsWith(command)), name);
  }
  for (
    const line of [
      "run: npx -y deno@2.9.6 task vectors:fetch",
      "run: echo SIG_CI=1 >>",
    ]
  ) {
    assert(PREPARE.text.includes(line), line);
  }
});

Deno.test("check_tag rejects a tag that differs from a package's version", async () => {
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
