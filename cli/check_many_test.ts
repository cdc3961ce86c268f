import { assertEquals, assertStringIncludes } from "@std/assert";
import { issuerTest as test } from "./testdata/workspace.ts";

const CHECK =
  "check --subject did:web:alice.example --sig $D/other --sig $D/acme --require";

test("one issuer that allows is enough, and every issuer is listed", async (workspace) => {
  await workspace.sig("init other.example --dir $D/other");
  const run = (words: string) => workspace.sig(`${CHECK} ${words}`);
  const json = await run("role=deploy");
  assertEquals(json.code, 0, json.stderr);
  const said = JSON.parse(json.stdout);
  assertEquals(Object.keys(said), ["decision", "answers"]);
  assertEquals(said.decision, "allow");
  assertEquals(
    said.answers.map((each: Record<string, unknown>) => [
      each.issuer,
      each.decision,
    ]),
    [["did:web:other.example", "deny"], ["did:web:acme.example", "allow"]],
  );
  const text = await run("role=deploy --format text");
  assertStringIncludes(text.stdout, "allow  1 of 2 issuers allow\n");
  assertStringIncludes(text.stdout, "did:web:other.example: deny");
  const denied = await run("role=nobody");
  assertEquals(
    [denied.code, JSON.parse(denied.stdout).decision],
    [1, "deny"],
  );
});

test("an issuer that can't answer turns a deny into an error, but not an allow", async (workspace) => {
  const run = (words: string) => workspace.sig(`${CHECK} ${words}`);
  const allowed = await run("role=deploy");
  assertEquals(allowed.code, 0, allowed.stderr);
  const { answers } = JSON.parse(allowed.stdout);
  assertEquals(Object.keys(answers[0]), ["issuer", "error"]);
  assertEquals(answers[0].error.code, "source_not_found");
  const refused = await run("role=nobody");
  assertEquals([refused.code, refused.stdout], [2, ""]);
  const problem = JSON.parse(refused.stderr);
  assertEquals(problem.code, "source_not_found");
  assertEquals(problem.answers[1].decision, "deny");
  const text = await run("role=nobody --format text");
  assertEquals([text.code, text.stdout], [2, ""]);
  assertStringIncludes(text.stderr, "did:web:acme.example: deny");
  assertStringIncludes(
    text.stderr,
    "error: source_not_found: Cannot answer: none of 2 issuers allows, and $D/other could not answer",
  );
});
