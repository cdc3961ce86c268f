import { assertEquals, assertStringIncludes } from "@std/assert";
import { withIssuer, type Workspace } from "../testdata/workspace.ts";

const draft = (at: number, more: object = {}) =>
  JSON.stringify({
    event_type: "relationship.upsert",
    event_id: `i${at}`,
    relationship_id: `n${at}`,
    subject: `did:web:p${at}.example`,
    relationship_type: "advisor",
    ...more,
  });

function importLines(workspace: Workspace, stdin: string, words = "") {
  return workspace.sig(
    ["import", "--dir", "$D/acme", "-", ...words.split(" ").filter(Boolean)],
    { stdin },
  );
}

Deno.test("import appends drafts in one batch, and once only", () =>
  withIssuer(async (workspace) => {
    const revoke = JSON.stringify({
      event_type: "relationship.revoke",
      event_id: "i9",
      relationship_id: "n1",
      reason_code: "other",
    });
    const lines = `${draft(1)}\r\n\n${draft(2)}\n${revoke}`;
    const first = await importLines(workspace, lines);
    assertEquals(
      [first.code, first.stdout, first.stderr],
      [0, "Appended 3 events (seq=4 to 6)\n", ""],
    );
    const again = await importLines(workspace, lines);
    assertEquals(
      [again.code, again.stdout, again.stderr],
      [
        0,
        "Nothing to do: the feed already says all of this.\n",
        "warning: 3 events already in the feed\n",
      ],
    );
    const more = await importLines(
      workspace,
      `${lines}\n${draft(3)}`,
      "--format json",
    );
    const { applied, first_sequence } = JSON.parse(more.stdout);
    assertEquals([applied, first_sequence], [1, 7]);
  }));

Deno.test("import tells every fault with its line, and writes nothing", () =>
  withIssuer(async (workspace) => {
    const before = await workspace.snapshot();
    const faulty = await importLines(
      workspace,
      [
        draft(1),
        "",
        draft(2, { subject: 7, relationship_type: "boss" }),
        draft(3),
        draft(4, { rolls: [] }),
        draft(5, { event_id: "i1" }),
      ].join("\n"),
    );
    assertEquals([faulty.code, faulty.stdout], [2, ""]);
    for (
      const place of [
        "invalid_field line 3, field /subject: ",
        "invalid_field line 3, field /relationship_type: ",
        "invalid_field line 5, field /rolls: ",
        "duplicate_event_id line 6, field /event_id: ",
        "Nothing was written",
      ]
    ) assertStringIncludes(faulty.stderr, place);
    const json = await importLines(workspace, `nope\n${draft(1)}\n[]\n`);
    assertEquals(json.code, 2);
    assertStringIncludes(
      json.stderr,
      "invalid_json: Cannot read drafts: line 1: it must be strict JSON",
    );
    assertStringIncludes(
      json.stderr,
      "invalid_json line 3: it must be one object",
    );
    assertEquals(await workspace.snapshot(), before);
  }));

Deno.test("import tells of 100 faults at the most, and shows progress on a terminal only", () =>
  withIssuer(async (workspace) => {
    const faulty = Array.from(
      { length: 150 },
      (_, at) => draft(at, { subject: "" }),
    ).join("\n");
    const { stderr } = await importLines(workspace, faulty, "--format json");
    assertEquals(JSON.parse(stderr).errors.length, 100);
    const many = Array.from({ length: 2_500 }, (_, at) => draft(at)).join("\n");
    const done = await workspace.sig(["import", "--dir", "$D/acme", "-"], {
      stdin: many,
      terminals: ["stderr"],
    });
    assertEquals(done.code, 0);
    assertStringIncludes(done.stderr, "\rsigned 2000 of 2500 events");
    const verified = await workspace.sig(["verify", "$D/acme"]);
    assertStringIncludes(verified.stdout, "valid: 2503 events");
  }));

Deno.test("an empty import does nothing, and says that it was empty", () =>
  withIssuer(async (workspace) => {
    for (const nothing of ["", "\n\r\n"]) {
      const { code, stderr } = await importLines(workspace, nothing);
      assertEquals([code, stderr], [
        0,
        "warning: the file contains no drafts\n",
      ]);
    }
  }));
