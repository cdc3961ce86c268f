import { assertEquals } from "@std/assert";
import { issuerTest as test } from "../testdata/workspace.ts";

test("a subject of the feed takes precedence over the same text as a name, and means this key alone", async (workspace) => {
  const upsert = "upsert --dir $D/acme --type other --subject";
  const link = `--metadata '{"same_person_as":"Alice Doe"}'`;
  await workspace.says(`${upsert} 'Alice Doe' --allow-warnings`);
  await workspace.says(
    `${upsert} did:web:second.example --role deploy ${link}`,
  );
  await workspace.write(
    "acme/.sig/people.csv",
    "subject,name\ndid:web:alice.example,Alice Doe\n",
  );
  const { decision, subject } = await workspace.json(
    "check --sig $D/acme --require role=deploy --subject 'Alice Doe'",
  );
  assertEquals([decision, subject], ["deny", "Alice Doe"]);
});
