import { assertEquals, assertStringIncludes } from "@std/assert";
import { draftsOf, issuerTest as test } from "../testdata/workspace.ts";

const IMPORT = "import --dir $D/acme -";

const draft = (at: number, more: object = {}) =>
  JSON.stringify({
    event_type: "relationship.upsert",
    event_id: `i${at}`,
    relationship_id: `n${at}`,
    subject: `did:web:p${at}.example`,
    relationship_type: "advisor",
    ...more,
  });

test("import reports up to 100 faults with their lines, and writes nothing", async (workspace) => {
  const stdin = [
    draft(1),
    "",
    draft(2, { subject: 7, relationship_type: "boss" }),
    draft(3),
    draft(4, { rolls: [] }),
    draft(5, { event_id: "i1" }),
  ].join("\n");
  await workspace.refused(IMPORT, [
    "invalid_field line 3, field /subject: ",
    "invalid_field line 3, field /relationship_type: ",
    "invalid_field line 5, field /rolls: ",
    "duplicate_event_id line 6, field /event_id: ",
    "Nothing was written",
  ], { stdin });
  await workspace.refused(IMPORT, [
    "invalid_json: Cannot read drafts: line 1: it must be strict JSON",
    "invalid_json line 3: it must be one object",
  ], { stdin: `nope\n${draft(1)}\n[]\n` });
  for (const stdin of [draftsOf(150, { subject: "" }), "[]\n".repeat(150)]) {
    const json = `${IMPORT} --format json`;
    const many = await workspace.refused(json, [], { stdin });
    assertEquals(JSON.parse(many).errors.length, 100);
  }
});

test("import shows progress on a terminal", async (workspace) => {
  await workspace.says(IMPORT, {
    stdin: draftsOf(2_500),
    terminals: ["stderr"],
    err: "\rsigned 2000 of 2500 events",
  });
  const verified = await workspace.ok("verify $D/acme");
  assertStringIncludes(verified, "valid: 2503 events");
});

test("import of an empty file warns and writes nothing", async (workspace) => {
  for (const stdin of ["", "\n\r\n"]) {
    await workspace.says(IMPORT, {
      stdin,
      stderr: "warning: the file contains no drafts\n",
    });
  }
});
