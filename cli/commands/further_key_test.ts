import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  type Answer,
  answered,
  enrolled,
  notEnrolled,
} from "../testdata/enrolment.ts";
import {
  assertRan,
  issuerTest as test,
  type Ran,
  type Workspace,
} from "../testdata/workspace.ts";

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

/** Runs `sig plan` or `sig apply` with a list of these rows. */
function list(
  workspace: Workspace,
  words: string,
  rows: readonly string[],
): Promise<Ran> {
  return workspace.sig(`${words} --dir $D/acme --from - --input csv`, {
    stdin: `${rows.join("\n")}\n`,
  });
}

async function isDone(
  workspace: Workspace,
  rows: readonly string[],
  count: number,
): Promise<void> {
  assertEquals(await list(workspace, "plan --prune", rows), {
    code: 0,
    stdout: `Nothing to do; ${count} as they are.\n`,
    stderr: "",
  });
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

test("invite --also refuses a person without an active relationship or with several", async (workspace) => {
  const answer = await answeredFor(workspace, ALICE, "phone.jwk");
  for (
    const [words, code] of [
      ["--also did:web:bob.example", "unknown_relationship"],
      ["--also did:web:nobody.example", "unknown_relationship"],
      [`--also ${ALICE} --type contractor`, "unknown_relationship"],
      [`--also ${ALICE} --role admin`, "invalid_request"],
      ["", "invalid_request"],
    ] as const
  ) {
    await workspace.refused(`invite --dir $D/acme ${words}`, `${code}: `);
  }
  // With a second type, --type is required.
  await workspace.ok(
    `upsert --dir $D/acme --subject ${ALICE} --type contractor`,
  );
  const several = `${INVITE} ${ALICE}`;
  await workspace.refused(several, "ambiguous_relationship: ");
  const { same_person_as, relationship_type } = await workspace.json(
    `${several} --type contractor`,
  );
  assertEquals([same_person_as, relationship_type], [ALICE, "contractor"]);
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
  const rows = ["subject,type,roles", `${ALICE},employee,audit`];
  isTwice((await list(workspace, "plan", rows)).stdout);
  isTwice(await workspace.ok(`${OFFBOARD} 'Al Doe'`));
});

test("set applies the same change to every key of a person", async (workspace) => {
  const phone = await withKey(workspace, ALICE);
  const watch = await withKey(workspace, phone, "watch.jwk");
  const { applied } = await workspace.json(
    `set --dir $D/acme --subject ${watch} --add-role audit --remove-role review --title CTO --event-id once`,
  );
  assertEquals(applied, 3);
  assertEquals(
    (await members(workspace)).map(({ roles }) => roles),
    [1, 2, 3].map(() => ["audit", "deploy"]),
  );
  // The feed is still valid: no event_id repeats.
  await workspace.ok("verify $D/acme");
});

test("a row for the root applies to every key of the person, and the plan shows each key", async (workspace) => {
  const phone = await withKey(workspace, ALICE);
  const rows = [
    "subject,type,roles,title",
    `${ALICE},employee,deploy;audit,CTO`,
  ];
  const plan = await list(workspace, "plan --format json", rows);
  const { changes, unchanged, unmanaged } = JSON.parse(plan.stdout);
  assertEquals([plan.code, unchanged, unmanaged], [1, 0, 0]);
  assertEquals(
    changes.map((
      each: { action: string; subject: string; fields: string[] },
    ) => [each.action, each.subject, each.fields.join()]),
    [["update", ALICE, "roles,title"], ["update", phone, "roles"]],
  );
  const applied = await list(
    workspace,
    "apply --prune --reason-code other --yes --new-role audit --new-role guard --new-role admin",
    rows,
  );
  assertMatch(applied.stdout, /^Appended 2 events/);
  assertEquals(
    (await members(workspace)).map(({ roles }) => roles),
    [1, 2].map(() => ["audit", "deploy"]),
  );
  await isDone(workspace, rows, 2);
  // Two rows for keys of one person are refused.
  const both = [...rows, `${phone},employee,deploy,CTO`];
  assertRan(await list(workspace, "plan", both), {
    code: 2,
    err: "invalid_field: ",
  });
});

test("a row for the root creates no relationship while another key is active, and needs --readmit after any key was offboarded", async (workspace) => {
  const phone = await withKey(workspace, ALICE);
  await workspace.sig(`${REVOKE} superseded --relationship-id r1`);
  const left = [[phone, "employee", "deploy,review", null]];
  assertEquals(await who(workspace), left);
  const rows = ["subject,type,roles", `${ALICE},employee,deploy`];
  assertRan(
    await list(
      workspace,
      "apply --prune --reason-code other --yes --new-role audit --new-role guard --new-role admin",
      rows,
    ),
  );
  assertEquals(await who(workspace), [[phone, "employee", "deploy", null]]);
  await workspace.ok(`${OFFBOARD} ${phone}`);
  for (const subject of [ALICE, phone]) {
    const back = ["subject,type", `${subject},employee`];
    const { code, stderr } = await list(workspace, "apply --yes", back);
    assertEquals(code, 2);
    assertMatch(stderr, /confirmation_required: [^]*--readmit/);
  }
});

test("a change of type and an offboarding apply to all keys of the person, in one batch each", async (workspace) => {
  const phone = await withKey(workspace, ALICE);
  const rows = ["subject,type", `${ALICE},contractor`];
  const moved = await list(workspace, "apply --yes", rows);
  assertMatch(moved.stdout, /^Appended 4 events/);
  assertEquals(await who(workspace), [
    [phone, "contractor", "deploy,review", null],
    [ALICE, "contractor", "deploy,review", null],
  ]);
  // The keys stay linked after both relationships were replaced.
  const { applied } = await workspace.json(`${OFFBOARD} ${phone}`);
  assertEquals([applied, await who(workspace)], [2, []]);
});

test("if a person's first key was revoked, a new type applies to the remaining keys", async (workspace) => {
  const phone = await withKey(workspace, ALICE);
  const watch = await withKey(workspace, phone, "watch.jwk");
  await workspace.sig(`${REVOKE} permission_revoked --relationship-id r1`);
  const rows = [
    ...["subject,type,roles", `${ALICE},employee,deploy`],
    `${ALICE},contractor,admin`,
  ];
  assertRan(
    await list(
      workspace,
      "apply --prune --reason-code other --yes --new-role audit --new-role guard --new-role admin",
      rows,
    ),
    { stderr: "" },
  );
  const now = await members(workspace);
  const admins = now.filter((each) => each.relationship_type === "contractor");
  assertEquals(
    new Set(admins.map(({ subject }) => subject)),
    new Set([phone, watch]),
  );
  assertEquals(now.length, 4);
  await isDone(workspace, rows, 4);
  const named = [
    "subject,type,roles,relationship_id",
    `${ALICE},advisor,guard,own-id`,
  ];
  assertEquals(
    (await list(workspace, "apply --yes --new-role guard", named)).code,
    0,
  );
  assertEquals((await members(workspace)).length, 5);
});
