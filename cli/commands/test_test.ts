import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withIssuer, type Workspace } from "../testdata/workspace.ts";

const GOOD = `
cases:
  - name: alice may deploy
    subject: did:web:alice.example
    require: [relationship=employee, role=deploy]
    expect: allow
  - subject: did:web:bob.example
    require: [relationship=contractor]
    expect: deny
    reasons: [revoked]
  - subject: did:web:bob.example
    require: [relationship=contractor]
    as_of: 2
    expect: allow
`;

async function test(
  workspace: Workspace,
  cases: string,
  words: readonly string[] = [],
) {
  await Deno.writeTextFile(workspace.path("cases.yaml"), cases);
  return await workspace.sig(["test", "$D/cases.yaml", ...words]);
}

Deno.test("cases that hold exit 0, and the source is the file's or --sig's", () =>
  withIssuer(async (workspace) => {
    const source = `source: ${workspace.path("acme")}\n`;
    const ran = await test(workspace, source + GOOD);
    assertEquals([ran.code, ran.stderr], [0, ""]);
    assertEquals(
      ran.stdout,
      "ok  alice may deploy\nok  did:web:bob.example relationship=contractor\n" +
        "ok  did:web:bob.example relationship=contractor\n3 of 3 cases hold\n",
    );
    const other = await test(workspace, "source: ./nowhere\n" + GOOD, [
      "--sig",
      "$D/acme",
    ]);
    assertEquals(other.code, 0);
    const none = await test(workspace, GOOD);
    assertEquals(none.code, 2);
    assertStringIncludes(none.stderr, "there is no source to ask");
  }));

Deno.test("a case that fails says expected and got, with the explanation, and exits 1", () =>
  withIssuer(async (workspace) => {
    const cases = GOOD.replace("role=deploy", "role=refund")
      .replace("[revoked]", "[expired]");
    const words = ["--sig", "$D/acme"];
    const text = await test(workspace, cases, words);
    assertEquals(text.code, 1);
    assertStringIncludes(
      text.stdout,
      "failed  alice may deploy\n  expected allow, got deny (role_missing)\n  r1: active, does not meet role=refund\n",
    );
    assertStringIncludes(
      text.stdout,
      "expected deny (expired), got deny (revoked)",
    );
    assertStringIncludes(text.stdout, "1 of 3 cases hold");
    const json = await test(workspace, cases, [...words, "--format", "json"]);
    assertEquals(json.code, 1);
    const { issuer, passed, failed, cases: [first] } = JSON.parse(json.stdout);
    assertEquals([issuer, passed, failed], ["did:web:acme.example", 1, 2]);
    assertEquals([first.passed, first.got.decision], [false, "deny"]);
  }));

Deno.test("JUnit output counts failures and escapes what cases are called", () =>
  withIssuer(async (workspace) => {
    const cases = GOOD.replace("alice may deploy", `"a<b>&\\"\\u202e\\uffff"`)
      .replace("expect: allow", "expect: deny");
    const { code, stdout } = await test(workspace, cases, [
      ...["--sig", "$D/acme", "--format", "junit"],
    ]);
    assertEquals(code, 1);
    assertStringIncludes(stdout, 'tests="3" failures="1"');
    assertStringIncludes(stdout, 'name="a&#60;b&#62;&#38;&#34;\\u202e\\uffff"');
    assertStringIncludes(
      stdout,
      '<failure message="expected deny, got allow"/>',
    );
    // Of the second no XML may speak, as itself or by its number.
    assert(!/[\u202e\uffff]/.test(stdout));
  }));

Deno.test("cases that can't be meant are refused with their place, never passed", () =>
  withIssuer(async (workspace) => {
    const one = (members: string) => `cases: [{${members}}]\n`;
    const ok = "subject: did:web:a.example, require: [role=x], expect: deny";
    const tries = [
      ["", "it must be an object with cases"],
      ["cases: []", "at least one case"],
      ["cases: [1]", "case 1 must be an object"],
      ["case: []", "Did you mean cases?"],
      [one(ok.replace("expect", "expects")), "Did you mean expect?"],
      [one(ok.replace("deny", "maybe")), "case 1 must expect allow or deny"],
      [one(ok.replace("[role=x]", "[]")), "case 1 must have require"],
      [one(ok.replace("did:web:a.example", "''")), "must have a subject"],
      [one(ok + ", at: 5"), "case 1: at must be a timestamp"],
      [one(ok + ", reasons: x"), "case 1: reasons must be a list"],
      [
        one(ok.replace("deny", "allow") + ", reasons: [revoked]"),
        "an allow has no reasons",
      ],
      ["cases: [", "it is no YAML"],
      [one(ok.replace("role=x", "team=x")), "invalid_requirement"],
      [one(ok + ", as_of: 99"), "consistency_unavailable"],
    ] as const;
    for (const [cases, why] of tries) {
      const ran = await test(workspace, cases, ["--sig", "$D/acme"]);
      assertEquals([ran.code, ran.stdout], [2, ""], cases);
      assertStringIncludes(ran.stderr, why);
    }
  }));

Deno.test("cases in another encoding are refused: a deny of a spoilt role proves nothing", () =>
  withIssuer(async (workspace) => {
    const cases = Uint8Array.from(
      'cases: [{subject: a, require: ["role=pr\u00fcfer"], expect: deny}]',
      (character) => character.charCodeAt(0),
    );
    await Deno.writeFile(workspace.path("latin1.yaml"), cases);
    const { code, stdout, stderr } = await workspace.sig([
      ...["test", "$D/latin1.yaml", "--sig", "$D/acme"],
    ]);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(
      stderr,
      "invalid_request: Cannot run: cases can't be read: the file is not UTF-8",
    );
  }));
