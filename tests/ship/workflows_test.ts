import { assert, assertEquals, assertMatch } from "@std/assert";
import { parse } from "@std/yaml/parse";
import { run } from "../kit/process.ts";
import { ROOT, VERSION } from "../../tools/workspace.ts";

// promise: Workflows pin actions by commit and contain no secret.

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

/** The used parts of a workflow. */
interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
}
interface Job {
  readonly needs?: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

Deno.test("only a job that neither builds nor tests has more permissions than to read", () => {
  const permissions = WORKFLOWS.map(({ name, text }) => {
    const { permissions, jobs } = parse(text) as Workflow;
    assertEquals(permissions, {}, name);
    for (const { needs, permissions, steps } of Object.values(jobs)) {
      if (!Object.values(permissions).includes("write")) continue;
      // It has no checkout, and so no code that could use its permissions.
      assertEquals(needs, "test");
      for (const { uses = "", run = "" } of steps) {
        assert(!/checkout|^\.|\btask\b/.test(uses + run), uses + run);
      }
    }
    const all = Object.entries(jobs).map(([job, { permissions }]) => [
      job,
      permissions,
    ]);
    return [name, Object.fromEntries(all)];
  });
  const test = { contents: "read" };
  assertEquals(Object.fromEntries(permissions), {
    "test.yml": { test },
    "publish.yml": { test, publish: { "id-token": "write" } },
    "release.yml": {
      test,
      release: {
        contents: "write",
        "id-token": "write",
        attestations: "write",
      },
    },
  });
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
    const line = new RegExp(
      `run: ${RegExp.escape(command)}( --output=.+)?$`,
      "m",
    );
    assertMatch(after!, line, name);
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
