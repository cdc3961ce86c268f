import { assert, assertEquals, assertStringIncludes } from "@std/assert";
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

test("every command accepts a name from the names file as the subject", async (workspace) => {
  await nameThem(workspace);
  for (
    const [words, part] of [
      [
        "check --sig $D/acme --require role=deploy --format text",
        "allow  did:web:alice.example",
      ],
      ["log $D/acme", "did:web:alice.example"],
      ["dump-state $D/acme --format text", "did:web:alice.example"],
      ["set --dir $D/acme --add-role ship", "did:web:alice.example"],
      [
        "offboard --dir $D/acme --reason-code other --yes",
        "did:web:alice.example",
      ],
    ] as const
  ) {
    const said = await workspace.ok(`${words} --subject 'Alice Doe'`);
    assertStringIncludes(said, part);
  }
  await workspace.refused(
    "offboard --dir $D/acme --subject 'Alice Doe' --type advisor --reason-code other --yes",
    `"Alice Doe" has no active relationship of type advisor (at flag --subject)`,
  );
});

test("an unknown or ambiguous name is an error, never a deny", async (workspace) => {
  // Without a names file any text is a subject.
  await workspace.says(`${CHECK} Bob`, { code: 1 });
  await nameThem(workspace);
  await workspace.refused(`${CHECK} Bob --format text`, [
    'ambiguous_relationship: Cannot choose a person: 2 people have the name "Bob": Bob, no roles, did:web:bob.example; Bob, no roles, did:web:bob2.example',
    "(at flag --subject)",
  ]);
  for (
    const [text, near] of [
      ["'Alice Do'", "hint: Did you mean Alice Doe? People are in"],
      ["alice", "hint: Did you mean Alice Doe? People are in"],
      ["'Álice Dóe'", "hint: Did you mean Alice Doe? People are in"],
      ["Bobby", "hint: People are in"],
    ] as const
  ) {
    await workspace.refused(`${CHECK} ${text} --format text`, [
      `invalid_identifier: Cannot find a subject: "${
        text.replaceAll("'", "")
      }" is not a DID, and nobody has that id or name`,
      "(at flag --subject)",
      near,
    ]);
  }
  await workspace.refused(
    "offboard --dir $D/acme --person 1 --reason-code other",
    "hint: Did you mean --subject?",
  );
});

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

const PHONE = "did:web:alice-phone.example";

/** Gives Alice a phone, and one person id for both keys. */
async function addPhone(workspace: Workspace): Promise<void> {
  await workspace.write(
    "acme/.sig/people.csv",
    `subject,person,name\ndid:web:alice.example,17,Alice Doe\n${PHONE},17,\n`,
  );
  await workspace.ok([
    ..."upsert --dir $D/acme --type employee --role deploy".split(" "),
    ...["--subject", PHONE, "--relationship-id", "phone"],
    ...["--metadata", '{"same_person_as":"did:web:alice.example"}'],
  ]);
}

test("a person's name means the only effective key, never a revoked first key", async (workspace) => {
  await addPhone(workspace);
  const upsert = "upsert --dir $D/acme --type advisor --role admin --subject";
  await workspace.refused(`${upsert} 17`, [
    'ambiguous_relationship: Cannot choose a key: "17" has 2 keys with an effective relationship: did:web:alice.example (deploy, review); did:web:alice-phone.example (deploy)',
    "(at flag --subject)",
  ]);
  await workspace.ok(
    "revoke --dir $D/acme --relationship-id r1 --reason-code admin_action",
  );
  await workspace.ok(`${upsert} 'Alice Doe'`);
  const [event] = (await workspace.events()).slice(-1);
  assertEquals([event.subject, event.roles], [PHONE, ["admin"]]);
  await workspace.says(`${CHECK} 17`, { out: PHONE });
  await workspace.ok(
    "offboard --dir $D/acme --subject 17 --reason-code other --yes",
  );
  await workspace.refused(`${upsert} 17`, "has no key with an effective");
});

test("an invalid source is not reported as a fault of --subject", async (workspace) => {
  const stderr = await workspace.refused(
    "check --sig members:8080 --subject x --require role=deploy --format text",
    "error: ",
  );
  assert(!stderr.includes("--subject"), stderr);
});
