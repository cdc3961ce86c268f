import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { serveLoopback } from "../../tests/kit/loopback.ts";
import {
  type Answer,
  answered,
  enrolled,
  invited,
  notEnrolled,
} from "../testdata/enrolment.ts";
import { sig } from "../testdata/process.ts";
import {
  assertRan,
  issuerTest as test,
  terminal,
  type Workspace,
} from "../testdata/workspace.ts";

const ENROL = "enrol --dir $D/acme --answer";

test("if two processes enrol two people with one invitation, exactly one succeeds", async (workspace) => {
  const cwd = workspace.dir;
  const soon = { io: { now: () => new Date() } };
  await workspace.sig("invite --dir $D/acme --type other --out $D/i", soon);
  const people = ["alice.json", "mallory.json"];
  for (const out of people) {
    const accept = ["accept", "./i", "--sig", "./acme", "--out", out];
    assertEquals((await sig(accept, { cwd })).code, 0);
  }
  const ended = await Promise.all(
    people.map((file) =>
      sig(["enrol", "--dir", "acme", "--answer", file, "--yes"], { cwd })
    ),
  );
  assertEquals(ended.map(({ code }) => code).sort(), [0, 2]);
  const refused = ended.find(({ code }) => code === 2)!;
  assertStringIncludes(refused.stderr, "error: invitation_used: ");
  assertEquals((await workspace.events()).length, 4);
});

test("enrol refuses an invalid answer with its code, and writes nothing", async (workspace) => {
  const invitation = await invited(workspace);
  const other = await invited(workspace, "--role admin");
  const answer = await answered(workspace, invitation);
  for (
    const [wrong, code] of [
      ['{"invitation":"a","invitation":"b"}', "invalid_json"],
      [{ attestation: answer.attestation }, "invalid_invitation"],
      [{ ...answer, invitation: other }, "invalid_attestation"],
      [
        { ...answer, attestation: `${answer.attestation.slice(0, -4)}AAAA` },
        "attestation_signature_invalid",
      ],
    ] as const
  ) await notEnrolled(workspace, wrong, `error: ${code}: `);
  await notEnrolled(workspace, invitation, [
    "invalid_json: Cannot read answer: syntax error",
    "It is the answer that sig accept or the page makes, not the invitation.",
  ]);
  const file = `${ENROL} $D/large.json --yes`;
  await workspace.refused(file, "error: source_not_found: ");
  await workspace.write("large.json", " ".repeat(65_537));
  await workspace.refused(file, "error: document_too_large: ");
});

test("enrol refuses an invitation whose key was removed from the key set", async (workspace) => {
  const answer = await answered(workspace, await invited(workspace));
  await workspace.ok("rotate-key --dir $D/acme --kid new");
  const jwks = "acme/.well-known/jwks.json";
  await workspace.edit(jwks, ({ keys }) => keys.shift());
  await notEnrolled(workspace, answer, "error: key_not_found: ");
});

test("enrol that can't write its acknowledgement has succeeded, and repeating it returns the event", async (workspace) => {
  const answer = await answered(workspace, await invited(workspace));
  await workspace.write("answer.json", JSON.stringify(answer));
  const words = `${ENROL} $D/answer.json --yes`;
  const stdout = () => {
    throw new Error("the terminal is gone");
  };
  await workspace.says(words, {
    io: { stdout },
    err:
      "warning: the events are published, but a later step failed: the terminal is gone\n",
  });
  const { sequence, repeated } = await workspace.json(words);
  assertEquals([sequence, repeated], [4, true]);
});

test("enrol verifies a did:web subject with the current key of its document", async (workspace) => {
  const invitation = await invited(workspace);
  await workspace.ok("key generate --out $D/w.jwk --kid k");
  const { d: _, ...jwk } = JSON.parse(await workspace.read("w.jwk"));
  let keys: object[] = [];
  await using server = serveLoopback(() =>
    Response.json({ id: did, authentication: keys })
  );
  const { did } = server;
  const { stdout } = await workspace.sig(
    `accept ${invitation} --sig $D/acme --key $D/w.jwk --subject ${did}`,
  );
  const insecure = "--yes --allow-insecure";
  const refused = (code: string, words = insecure) =>
    notEnrolled(workspace, stdout, `error: ${code}: `, words);
  await refused("address_not_allowed", "--yes");
  await refused("attestation_signature_invalid");
  const type = "JsonWebKey2020";
  keys = [{ id: `${did}#k`, type, controller: did, publicKeyJwk: jwk }];
  assertEquals((await enrolled(workspace, stdout, insecure)).code, 0);
  assertEquals((await workspace.events()).at(-1).subject, did);
  await server[Symbol.asyncDispose]();
  await refused("key_unresolvable");
});

// promise: Offboarding ends all keys of a person, and no further key re-admits
//   the person.

const ALICE = "did:web:alice.example";
const REVOKE = "revoke --dir $D/acme --reason-code";
const OFFBOARD =
  "offboard --dir $D/acme --yes --reason-code employment_ended --subject";
const INVITE = "invite --dir $D/acme --also";

async function answeredFor(
  workspace: Workspace,
  subject: string,
  key: string,
): Promise<Answer> {
  const { stdout } = await workspace.says(`${INVITE} ${subject}`);
  return await answered(workspace, stdout.trim(), key);
}

/** Enrols a further key of a subject and returns the key's DID. */
async function withKey(
  workspace: Workspace,
  subject: string,
  key = "phone.jwk",
): Promise<string> {
  const answer = await answeredFor(workspace, subject, key);
  assertRan(await enrolled(workspace, answer));
  return answer.subject;
}

/** Appends an upsert that links a subject to a person. */
function link(workspace: Workspace, subject: string, person: string) {
  return workspace.sig(
    `upsert --dir $D/acme --subject ${subject} --type employee --metadata ${
      JSON.stringify({ same_person_as: person })
    }`,
  );
}

interface Member {
  readonly subject: string;
  readonly relationship_id: string;
  readonly relationship_type: string;
  readonly roles: readonly string[];
  readonly valid_until: string | null;
}

const members = (workspace: Workspace): Promise<readonly Member[]> =>
  workspace.json("who $D/acme");

/** Returns the output of `sig who`: subject, type, roles and end. */
async function who(workspace: Workspace) {
  return (await members(workspace)).map((each) => [
    ...[each.subject, each.relationship_type, each.roles.join()],
    each.valid_until,
  ]);
}

test("enrol gives another key the person's current type, roles and dates", async (workspace) => {
  const answer = await answeredFor(workspace, ALICE, "phone.jwk");
  // Enrolment uses the current relationship; the terms in the invitation are
  // for display only.
  await workspace.ok(
    `set --dir $D/acme --subject ${ALICE} --remove-role review --valid-until 2027-06-30`,
  );
  const ran = await enrolled(workspace, answer, "--yes");
  // The new key begins now.
  const { valid_from } = (await workspace.events()).at(-1);
  assertEquals(valid_from.slice(0, 10), "2026-01-01");
  // The preview was before the append.
  const [, shown = ""] = /from (\S+) until/.exec(ran.stderr) ?? [];
  assert(shown <= valid_from, `${shown} ${valid_from}`);
  assertRan(ran, {
    stderr: `published by did:web:acme.example
invitation   signed by key orgsign-1
subject      ${answer.subject}
new key of   ${ALICE}
as           employee
roles        deploy
valid        from ${shown} until 2027-07-01T00:00:00Z (through 2027-06-30)
`,
  });
  const given = ["employee", "deploy", "2027-07-01T00:00:00Z"];
  assertEquals(await who(workspace), [
    [answer.subject, ...given],
    [ALICE, ...given],
  ]);
  const { metadata } = (await workspace.events()).at(-1);
  assertEquals(metadata, { same_person_as: ALICE });
  // Repeating returns the same event, even after the person has changed.
  await workspace.ok(`set --dir $D/acme --subject ${ALICE} --no-roles`);
  await workspace.ok(`${OFFBOARD} ${ALICE}`);
  const again = await enrolled(workspace, answer);
  assertEquals([again.code, JSON.parse(again.stdout).repeated], [0, true]);
  const other = await answered(workspace, answer.invitation, "mallory.jwk");
  await notEnrolled(workspace, other, "invitation_used: ");
  // The error precedes the preview, which would not match what was published.
  const used = await enrolled(workspace, other, "--yes");
  assertEquals(used.stderr.split(": ", 2), ["error", "invitation_used"]);
});

test("enrol refuses a further key of a person who has left", async (workspace) => {
  const answer = await answeredFor(workspace, ALICE, "phone.jwk");
  // The person has left since the invitation.
  await workspace.ok(`${OFFBOARD} ${ALICE}`);
  await notEnrolled(workspace, answer, "unknown_relationship: ");
});

test("enrol refuses a key that is linked to another person or already active", async (workspace) => {
  await workspace.ok("key generate --out $D/m.jwk");
  const own = (await workspace.ok("key did $D/m.jwk")).trim();
  await workspace.ok(
    `upsert --dir $D/acme --subject ${own} --type other --relationship-id m1`,
  );
  await workspace.ok(`${REVOKE} other --relationship-id m1`);
  const another = ["subject_mismatch: ", "as another person"];
  const answer = await answeredFor(workspace, ALICE, "m.jwk");
  await notEnrolled(workspace, answer, another);
  const tablet = await answeredFor(workspace, ALICE, "tablet.jwk");
  await link(workspace, "did:web:fresh.example", tablet.subject);
  await notEnrolled(workspace, tablet, another);
  const phone = await withKey(workspace, ALICE);
  const twice = await answeredFor(workspace, ALICE, "phone.jwk");
  await notEnrolled(workspace, twice, [
    "subject_mismatch: ",
    "already is an active key",
  ]);
  // A revoked key can be enrolled again for the same person.
  const before = await members(workspace);
  const { relationship_id } = before.find(({ subject }) => subject === phone)!;
  await workspace.sig(`${REVOKE} other --relationship-id ${relationship_id}`);
  assertEquals((await members(workspace)).length, before.length - 1);
  assertEquals((await enrolled(workspace, twice)).code, 0);
  assertEquals((await members(workspace)).length, before.length);
});

test("every key of a person is shown with the person's name, which is saved once", async (workspace) => {
  const { stdout } = await workspace.sig(`${INVITE} ${ALICE} --for 'Al Doe'`);
  const answer = await answered(workspace, stdout.trim(), "phone.jwk");
  await enrolled(workspace, answer, "--yes --keep-name");
  assertEquals(
    await workspace.read("acme/.sig/people.csv"),
    `subject,name\n${ALICE},Al Doe\n`,
  );
  const isTwice = (text: string) =>
    assertEquals(text.match(/Al Doe/g)?.length, 2);
  isTwice(await workspace.ok("who $D/acme --format csv"));
  isTwice(await workspace.ok(`${OFFBOARD} 'Al Doe'`));
});

const NAMES = "acme/.sig/people.csv";
const KEEP = "--yes --keep-name";

test("enrol saves the invited name only with --keep-name or after a confirmation", async (workspace) => {
  const said = `--for 'Alice "Al" Doe, née \u202eRoe'`;
  const answer = await answered(workspace, await invited(workspace, said));
  await enrolled(workspace, answer);
  assertEquals(await workspace.read(NAMES).catch(() => "none"), "none");
  const first =
    `subject,name\n${answer.subject},"Alice ""Al"" Doe, née \u202eRoe"\n`;
  // Repeating adds no second row.
  for (const _ of [1, 2]) {
    const { code, stderr } = await enrolled(workspace, answer, KEEP);
    assertEquals([code, stderr.includes("\u202e")], [0, false]);
    assertEquals(await workspace.read(NAMES), first);
  }
  assertEquals(await workspace.mode(NAMES), 0o600);
  const invitation = await invited(workspace, "--for Bob");
  const bob = await answered(workspace, invitation, "bob.jwk");
  await workspace.write("bob.json", JSON.stringify(bob));
  const given = terminal();
  await workspace.sig("enrol --dir $D/acme --answer $D/bob.json", given);
  assertEquals(given.asked, [
    "Publish this?",
    `Keep the name Bob in ${workspace.path(NAMES)}?`,
  ]);
  assertEquals(
    await workspace.read(NAMES),
    `${first}${bob.subject},Bob\n`,
  );
  assertStringIncludes(await workspace.ok("who $D/acme"), "Bob");
});

test("enrol asks every question before it appends, so that Ctrl-C publishes nothing", async (workspace) => {
  const invitation = await invited(workspace, "--for Alice");
  const answer = await answered(workspace, invitation);
  await workspace.write("a.json", JSON.stringify(answer));
  const lengths: number[] = [];
  const given = terminal(async () => {
    lengths.push((await workspace.events()).length);
    return true;
  });
  await workspace.says("enrol --dir $D/acme --answer $D/a.json", given);
  assertEquals(lengths, [3, 3]);
  assertEquals((await workspace.events()).length, 4);
});

test("enrol succeeds with a warning if the name cannot be saved", async (workspace) => {
  const invitation = await invited(workspace, "--for Alice");
  const answer = await answered(workspace, invitation);
  for (
    const [text, why] of [
      [
        `subject,name\n${answer.subject},Eve\n`,
        "another person or name for",
      ],
      ["nonsense\n", "it has no column subject"],
    ] as const
  ) {
    await workspace.write(NAMES, text);
    assertRan(await enrolled(workspace, answer, KEEP), {
      err: ["warning: ", why],
    });
    assertEquals(await workspace.read(NAMES), text);
  }
  await workspace.write(NAMES, "subject,name");
  await enrolled(workspace, answer, KEEP);
  assertEquals(
    await workspace.read(NAMES),
    `subject,name\n${answer.subject},Alice\n`,
  );
});
