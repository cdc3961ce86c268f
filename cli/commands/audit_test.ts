import { verifyEvidence } from "@sig/consumer";
import { createKeyResolver } from "@sig/jose";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  type Given,
  issuerTest as test,
  type Workspace,
} from "../testdata/workspace.ts";

const EVIL = `<script>alert("x")</script>&'\u202e`;

/** A clock after all events. */
const LATER: Given = {
  io: { now: () => new Date(Date.UTC(2026, 0, 1, 2)) },
};

const audit = (workspace: Workspace, words = "", given = LATER) =>
  workspace.ok(`audit $D/acme ${words}`, given);

interface Entry {
  readonly [name: string]: unknown;
}

/** Returns some members of each entry in the report. */
async function entries(
  workspace: Workspace,
  words: string,
  ...members: readonly string[]
): Promise<readonly (readonly unknown[])[]> {
  const { entries } = await workspace.json(`audit $D/acme ${words}`, LATER);
  return entries.map((entry: Entry) => members.map((name) => entry[name]));
}

const UPSERT = "upsert --dir $D/acme --allow-warnings --relationship-id";
const ADAM = "--subject did:web:adam.example --type contractor";

/** Appends an event. Warnings are allowed. */
async function append(
  workspace: Workspace,
  words: string,
  given: Given = {},
): Promise<void> {
  await workspace.says(words, given);
}

/**
 * Appends new roles for alice, a contract that expires, and a backdated revoke.
 */
async function addStory(workspace: Workspace): Promise<void> {
  await append(
    workspace,
    `${UPSERT} r1 --subject did:web:alice.example --type employee --role deploy --role refund`,
  );
  const [role, reason] = ["--role", "--reason"].map((flag) =>
    `${flag} ${EVIL}`
  );
  await append(
    workspace,
    `${UPSERT} r4 ${ADAM} ${role} --valid-until 2026-01-01T00:30:00Z`,
  );
  await append(workspace, "rotate-key --dir $D/acme --kid k2");
  await append(
    workspace,
    `revoke --dir $D/acme --relationship-id r1 --reason-code employment_ended ${reason} --issued-at 2026-01-01T01:00:00Z --effective-at 2025-12-01T00:00:00Z --allow-warnings`,
    LATER,
  );
}

test("audit output does not depend on the current time, in any format", async (workspace) => {
  await addStory(workspace);
  const later = { io: { now: () => new Date(Date.UTC(2031, 5)) } };
  for (const format of ["text", "json", "csv", "html"]) {
    const words = `--format ${format}`;
    assertEquals(
      await audit(workspace, words),
      await audit(workspace, words, later),
    );
  }
});

test("audit marks backdated events in text, CSV and HTML, and escapes values from the feed", async (workspace) => {
  await addStory(workspace);
  await workspace.write(
    "acme/.sig/people.csv",
    "subject,name\ndid:web:adam.example,=Adam<b>\ndid:web:alice.example,＝Alice\n",
  );
  const text = await audit(workspace);
  const csv = await audit(workspace, "--format csv");
  const page = await audit(workspace, "--format html");
  assertEquals(csv.split("\r\n").length, 9);
  for (
    const [output, part] of [
      [text, "employment_ended, backdated to 2025-12-01T00:00:00Z"],
      [text, "its validity ended"],
      [csv, `"'=Adam<b>"`],
      [csv, `"'＝Alice"`],
      [
        page,
        '<tr class="marked">\n<td class="short">2026-01-01T01:00:00Z</td>\n<td class="short">lost</td>',
      ],
      [page, "=Adam&#60;b&#62;"],
      [page, "default-src 'none'"],
    ] as const
  ) assertStringIncludes(output, part);
  assert(!/<script|<b>|(?:src|href)=/.test(page));
  for (const output of [text, csv, page]) assert(!output.includes("\u202e"));
});

test("audit --evidence writes a file with a decision for each line", async (workspace) => {
  await addStory(workspace);
  const words = "audit $D/acme --evidence '$D/my evidence'";
  await workspace.refused(
    words,
    "proof_invalid: Cannot use proof: the issuer publishes no proofs",
    LATER,
  );
  await workspace.ok("checkpoint --dir $D/acme --init");
  const page = await workspace.ok(`${words} --format html`, LATER);
  const links = [...page.matchAll(/<td class="short"><a href="([^"]*)">/g)]
    .map(([, href]) => decodeURIComponent(href!));
  assertEquals(
    links,
    [1, 2, 3, 4, 5, 6, 7].map((n) => `$D/my evidence/line-${n}.json`),
  );
  const { keys } = await createKeyResolver(
    JSON.parse(await workspace.read("acme/.well-known/jwks.json")),
  );
  const shown = await Promise.all(links.map(async (file) => {
    const bytes = await Deno.readFile(file.replace("$D", workspace.dir));
    const { evidence } = await verifyEvidence(bytes, keys.values());
    const { answer: { decision }, question: { require, subject } } = evidence;
    return [decision, subject.split(":")[2], ...require];
  }));
  const [employee, contractor] = ["employee", "contractor"].map((type) =>
    `relationship=${type}`
  );
  // As known now, event 6 ends r1 before its start.
  assertEquals(shown, [
    ["deny", "alice.example", employee, "role=deploy", "role=review"],
    ["allow", "bob.example", contractor],
    ["deny", "bob.example", contractor],
    ["deny", "alice.example", employee, "role=refund"],
    ["allow", "adam.example", contractor, `role=${EVIL}`],
    ["deny", "adam.example", contractor, `role=${EVIL}`],
    ["deny", "alice.example", employee, "role=deploy", "role=refund"],
  ]);
  await workspace.refused(words, "write_failed", LATER);
  assertEquals((await entries(workspace, "--evidence $D/e", "evidence"))[2], [
    { file: "$D/e/line-3.json", decision: "deny" },
  ]);
  const csv = await audit(workspace, "--evidence $D/f --format csv");
  const [head, , , third] = csv.split("\r\n");
  assert(head!.endsWith(',"evidence","decision"'), head);
  assert(third!.endsWith(',"$D/f/line-3.json","deny"'), third);
});
