import { assertEquals } from "@std/assert";
import {
  importTestKeys,
  lineOf,
  makeDocuments,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { issuerTest as test, type Workspace } from "../testdata/workspace.ts";

const CHECK = "check --sig $D/acme --require role=deploy --subject";

/** Writes a names file in which two people are named Bob. */
const nameThem = (workspace: Workspace) =>
  workspace.write(
    "acme/.sig/people.csv",
    `subject,name
did:web:alice.example,Alice Doe
did:web:bob.example,Bob
did:web:bob2.example,Bob
`,
  );

test("a subject of the feed takes precedence over the same text as a name", async (workspace) => {
  const [key] = await importTestKeys();
  const event = upsert(1, { subject: "Alice Doe", roles: ["deploy"] });
  const lines = [await lineOf(event, key)];
  for (const [path, content] of makeDocuments({ keys: [key], lines })) {
    await workspace.write(`acme${path}`, content);
  }
  await nameThem(workspace);
  const { decision, subject } = await workspace.json(
    `${CHECK} 'Alice Doe' --at 2026-06-01`,
  );
  assertEquals([decision, subject], ["allow", "Alice Doe"]);
});
