import { issuerTest as test } from "../testdata/workspace.ts";

const TEST = "test $D/cases.yaml --sig $D/acme";

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
