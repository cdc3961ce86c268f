import { assertEquals, assertStringIncludes } from "@std/assert";
import { draftsOf, issuerTest as test } from "../testdata/workspace.ts";

const IMPORT = "import --dir $D/acme -";

test("an error reports at most 100 faults of an import", async (workspace) => {
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
