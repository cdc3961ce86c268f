import { assert, assertEquals } from "@std/assert";
import { runCase } from "./testdata/cases.ts";
import { READING } from "./testdata/reading_cases.ts";
import { REFUSED } from "./testdata/refused_cases.ts";
import { withIssuer } from "./testdata/workspace.ts";

Deno.test("a reader's answers, and nothing is changed by them", async (t) => {
  await withIssuer(async (workspace) => {
    const before = await workspace.snapshot();
    for (const each of READING) {
      await t.step(each.name, () => runCase(workspace, each));
    }
    assertEquals(await workspace.snapshot(), before);
  });
});

Deno.test("what is refused leaves every file as it was", async (t) => {
  await withIssuer(async (workspace) => {
    const before = await workspace.snapshot();
    for (const each of REFUSED) {
      await t.step(each.name, async () => {
        await runCase(workspace, each);
        assertEquals(await workspace.snapshot(), before);
      });
    }
  });
});

Deno.test("with json, a refusal is one problem on stderr and stdout is empty", async (t) => {
  await withIssuer(async (workspace) => {
    const faulty = [...REFUSED, ...READING].filter(({ code }) => code === 2);
    for (const each of faulty) {
      await t.step(each.name, async () => {
        const args = `${each.args} --format json`;
        const json = { ...each, args, stderr: [], stdout: "" };
        await runCase(workspace, json);
        const { stderr } = await workspace.sig(args, each);
        const problem = JSON.parse(stderr);
        assertEquals(problem.type, `urn:sig:problem:${problem.code}`);
        assert(typeof problem.detail === "string");
      });
    }
  });
});
