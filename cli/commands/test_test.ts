import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { issuerTest as test } from "../testdata/workspace.ts";

const TEST = "test $D/cases.yaml --sig $D/acme";

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

test("test exits 0 if all cases hold, and takes the source from the file or --sig", async (workspace) => {
  await workspace.write("cases.yaml", `source: ${workspace.dir}/acme\n${GOOD}`);
  assertEquals(
    await workspace.ok("test $D/cases.yaml"),
    "ok  alice may deploy\nok  did:web:bob.example relationship=contractor\n" +
      "ok  did:web:bob.example relationship=contractor\n3 of 3 cases hold\n",
  );
  await workspace.write("cases.yaml", `source: ./nowhere\n${GOOD}`);
  await workspace.ok(TEST);
  await workspace.write("cases.yaml", GOOD);
  await workspace.refused("test $D/cases.yaml", "no source was given");
});

test("a failed case shows the expected and actual decision with the explanation, and exits 1", async (workspace) => {
  const cases = GOOD.replace("role=deploy", "role=refund")
    .replace("[revoked]", "[expired]");
  await workspace.write("cases.yaml", cases);
  const { stdout } = await workspace.says(TEST, { code: 1 });
  for (
    const part of [
      "failed  alice may deploy\n  expected allow, got deny (role_missing)\n  r1: active, does not meet role=refund\n",
      "expected deny (expired), got deny (revoked)",
      "1 of 3 cases hold",
    ]
  ) assertStringIncludes(stdout, part);
  const { cases: [first], ...counts } = await workspace.json(TEST);
  assertEquals(counts, {
    issuer: "did:web:acme.example",
    passed: 1,
    failed: 2,
  });
  assertEquals([first.passed, first.got.decision], [false, "deny"]);
});

test("JUnit output counts failures and escapes the names of cases", async (workspace) => {
  const cases = GOOD.replace("alice may deploy", `"a<b>&\\"\\u202e\\uffff"`)
    .replace("expect: allow", "expect: deny");
  await workspace.write("cases.yaml", cases);
  const { stdout } = await workspace.says(`${TEST} --format junit`, {
    code: 1,
  });
  for (
    const part of [
      'tests="3" failures="1"',
      'name="a&#60;b&#62;&#38;&#34;\\u202e\\uffff"',
      '<failure message="expected deny, got allow"/>',
    ]
  ) assertStringIncludes(stdout, part);
  // These characters must be escaped; XML does not allow U+FFFF even as a
  // reference.
  assert(!/[\u202e\uffff]/.test(stdout));
});

test("test refuses invalid cases and reports their position", async (workspace) => {
  const one = (members: string) => `cases: [{${members}}]\n`;
  const ok = "subject: did:web:a.example, require: [role=x], expect: deny";
  for (
    const [cases, why] of [
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
      ["cases: [", "it is not valid YAML"],
      [one(ok.replace("role=x", "team=x")), "invalid_requirement"],
      [one(ok + ", as_of: 99"), "consistency_unavailable"],
      // Latin-1 text: a role with a lost letter would be denied, and the case
      // would pass.
      [
        Uint8Array.from(
          one(ok.replace("role=x", "role=pr\u00fcfer")),
          (character) => character.charCodeAt(0),
        ),
        "invalid_request: Cannot run: cases can't be read: the file is not UTF-8",
      ],
    ] as const
  ) {
    await workspace.write("cases.yaml", cases);
    await workspace.refused(TEST, why);
  }
});
