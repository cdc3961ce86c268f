import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  type Answer,
  answered,
  codeOf,
  enrolled,
} from "../testdata/enrolment.ts";
import { withIssuer, type Workspace } from "../testdata/workspace.ts";

const ALICE = "did:web:alice.example";
const DIR = ["--dir", "$D/acme"];

/** Runs a command that must succeed; what it printed. */
async function sig(workspace: Workspace, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await workspace.sig(words);
  if (code !== 0) throw new Error(`${words.join(" ")}: ${stderr}`);
  return stdout;
}

async function answeredFor(
  workspace: Workspace,
  subject: string,
  key: string,
): Promise<Answer> {
  const text = await sig(workspace, "invite", ...DIR, "--also", subject);
  return await answered(workspace, text.trim(), key);
}

/** Enrols another key of a subject; its DID. */
async function withKey(
  workspace: Workspace,
  subject: string,
  key = "phone.jwk",
): Promise<string> {
  const answer = await answeredFor(workspace, subject, key);
  const { code, stderr } = await enrolled(workspace, answer);
  if (code !== 0) throw new Error(stderr);
  return answer.subject;
}

/** The relationships as `sig who` has them: who, type, roles and end. */
async function who(workspace: Workspace) {
  const text = await sig(workspace, "who", "$D/acme", "--format", "json");
  return JSON.parse(text).map((
    { subject, relationship_type, roles, valid_until }: {
      readonly subject: string;
      readonly relationship_type: string;
      readonly roles: readonly string[];
      readonly valid_until: string | null;
    },
  ) => [subject, relationship_type, roles.join(), valid_until]);
}

/** `sig plan` or `sig apply` of rows under their header. */
async function list(
  workspace: Workspace,
  command: string,
  rows: readonly string[],
  ...words: string[]
) {
  const { code, stdout, stderr } = await workspace.sig(
    [command, ...DIR, "--from", "-", "--input", "csv", ...words],
    { stdin: `${rows.join("\n")}\n` },
  );
  return { code, stdout, stderr };
}

Deno.test("another key of a person gets what that person has when it is enrolled", () =>
  withIssuer(async (workspace) => {
    const answer = await answeredFor(workspace, ALICE, "phone.jwk");
    // What changes before the enrolment counts; the invitation is for display.
    await sig(
      workspace,
      ...["set", ...DIR, "--subject", ALICE, "--remove-role", "review"],
      ...["--valid-until", "2027-06-30"],
    );
    const { code, stderr } = await enrolled(workspace, answer, ["--yes"]);
    assertEquals([code, stderr], [
      0,
      `published by did:web:acme.example
subject      ${answer.subject}
new key of   ${ALICE}
as           employee
roles        deploy
valid        until 2027-07-01T00:00:00Z
`,
    ]);
    assertEquals(await who(workspace), [
      [answer.subject, "employee", "deploy", "2027-07-01T00:00:00Z"],
      [ALICE, "employee", "deploy", "2027-07-01T00:00:00Z"],
    ]);
    const log = await sig(workspace, "log", "$D/acme", "--format", "json");
    const last = JSON.parse(log.trim().split("\n").at(-1)!);
    assertEquals(last.metadata ?? last.event?.metadata, {
      same_person_as: ALICE,
    });
    // Again: the same event, whatever the person has become since.
    await sig(workspace, "set", ...DIR, "--subject", ALICE, "--no-roles");
    await sig(
      workspace,
      ...["offboard", ...DIR, "--subject", ALICE, "--yes"],
      ...["--reason-code", "employment_ended"],
    );
    const again = await enrolled(workspace, answer);
    assertEquals([again.code, JSON.parse(again.stdout).repeated], [0, true]);
    const other = await answered(workspace, answer.invitation, "mallory.jwk");
    assertEquals(codeOf(await enrolled(workspace, other)), [
      2,
      "invitation_used",
    ]);
  }));

Deno.test("an invitation for another key is refused, and nothing written, where it names nobody or several", () =>
  withIssuer(async (workspace) => {
    const answer = await answeredFor(workspace, ALICE, "phone.jwk");
    const before = await workspace.snapshot();
    const refusals = [
      [["--also", "did:web:bob.example"], "unknown_relationship"],
      [["--also", "did:web:nobody.example"], "unknown_relationship"],
      [["--also", ALICE, "--type", "contractor"], "unknown_relationship"],
      [["--also", ALICE, "--role", "admin"], "invalid_request"],
      [[], "invalid_request"],
    ] as const;
    for (const [words, code] of refusals) {
      const refused = await workspace.sig(
        ["invite", ...DIR, ...words, "--format", "json"],
      );
      assertEquals(codeOf(refused), [2, code]);
    }
    assertEquals(await workspace.snapshot(), before);
    // A second type: --type is required.
    const upsert = ["upsert", ...DIR, "--subject", ALICE, "--type"];
    await sig(workspace, ...upsert, "contractor");
    const several = ["invite", ...DIR, "--also", ALICE, "--format", "json"];
    assertEquals(codeOf(await workspace.sig(several)), [
      2,
      "ambiguous_relationship",
    ]);
    const text = await sig(workspace, ...several, "--type", "contractor");
    const { same_person_as, relationship_type } = JSON.parse(text);
    assertEquals([same_person_as, relationship_type], [ALICE, "contractor"]);
    // The person has left since the invitation.
    await sig(
      workspace,
      ...["offboard", ...DIR, "--subject", ALICE, "--yes"],
      ...["--reason-code", "employment_ended"],
    );
    const left = await workspace.snapshot();
    assertEquals(codeOf(await enrolled(workspace, answer)), [
      2,
      "unknown_relationship",
    ]);
    assertEquals(await workspace.snapshot(), left);
  }));

Deno.test("a key that is another person's in the feed, or already active, can't be added to a person", () =>
  withIssuer(async (workspace) => {
    const own =
      (await sig(workspace, "key", "generate", "--out", "$D/m.jwk"),
        await sig(workspace, "key", "did", "$D/m.jwk")).trim();
    const upsert = ["upsert", ...DIR, "--subject", own, "--type", "other"];
    await sig(workspace, ...upsert, "--relationship-id", "m1");
    await sig(
      workspace,
      ...["revoke", ...DIR, "--relationship-id", "m1"],
      ...["--reason-code", "other"],
    );
    const answer = await answeredFor(workspace, ALICE, "m.jwk");
    const refused = await enrolled(workspace, answer);
    assertEquals(codeOf(refused), [2, "subject_mismatch"]);
    assertStringIncludes(refused.stderr, "as another person");
    const phone = await withKey(workspace, ALICE);
    const twice = await answeredFor(workspace, ALICE, "phone.jwk");
    const second = await enrolled(workspace, twice);
    assertEquals(codeOf(second), [2, "subject_mismatch"]);
    assertStringIncludes(second.stderr, "already is an active key");
    // One that was lost and found again is the same person's.
    const [lost] = JSON.parse(
      await sig(workspace, "who", "$D/acme", "--format", "json"),
    ).filter((each: { subject: string }) => each.subject === phone);
    await sig(
      workspace,
      ...["revoke", ...DIR, "--reason-code", "other"],
      ...["--relationship-id", lost.relationship_id],
    );
    assertEquals((await who(workspace)).length, 1);
    const found = await enrolled(workspace, twice);
    assertEquals([found.code, (await who(workspace)).length], [0, 2]);
  }));

Deno.test("a name belongs to the person: every key is shown with it, and the names file has it once", () =>
  withIssuer(async (workspace) => {
    const text = await sig(
      workspace,
      ...["invite", ...DIR, "--also", ALICE, "--for", "Alice Doe"],
    );
    const answer = await answered(workspace, text.trim(), "phone.jwk");
    await enrolled(workspace, answer, ["--yes", "--keep-name"]);
    const file = workspace.path("acme/.sig/names.csv");
    assertEquals(
      await Deno.readTextFile(file),
      `subject,name\n"${ALICE}","Alice Doe"\n`,
    );
    const shown = await sig(workspace, "who", "$D/acme", "--format", "csv");
    assertEquals(shown.match(/Alice Doe/g)?.length, 2);
    const rows = ["subject,type,roles", `${ALICE},employee,audit`];
    const { stdout } = await list(workspace, "plan", rows);
    assertEquals(stdout.match(/Alice Doe/g)?.length, 2);
    const ended = await sig(
      workspace,
      ...["offboard", ...DIR, "--subject", "Alice Doe", "--yes"],
      ...["--reason-code", "employment_ended"],
    );
    assertEquals(ended.match(/Alice Doe/g)?.length, 2);
  }));

Deno.test("a link that is ignored, or names an unknown subject, gives a warning", () =>
  withIssuer(async (workspace) => {
    const link = async (subject: string, person: string) => {
      const { code, stderr } = await workspace.sig([
        ...["upsert", ...DIR, "--subject", subject, "--type", "employee"],
        ...["--metadata", JSON.stringify({ same_person_as: person })],
      ]);
      assertEquals(code, 0);
      return stderr;
    };
    const [BOB, FRESH] = ["did:web:bob.example", "did:web:fresh.example"];
    assertStringIncludes(
      await link(BOB, ALICE),
      `${BOB} has events already, so that its same_person_as is ignored`,
    );
    assertStringIncludes(
      await link(FRESH, "did:web:alcie.example"),
      "no event is about did:web:alcie.example, the person",
    );
    // One that is linked already, and a new one, do what they say.
    const phone = await withKey(workspace, ALICE);
    for (const subject of [phone, "did:web:newer.example"]) {
      assertEquals((await link(subject, ALICE)).includes("person"), false);
    }
  }));

Deno.test("set changes every key of a person, by the same difference", () =>
  withIssuer(async (workspace) => {
    const phone = await withKey(workspace, ALICE);
    const watch = await withKey(workspace, phone, "watch.jwk");
    const text = await sig(
      workspace,
      ...["set", ...DIR, "--subject", watch, "--add-role", "audit"],
      ...["--remove-role", "review", "--title", "CTO"],
      ...["--event-id", "once", "--format", "json"],
    );
    assertEquals(JSON.parse(text).applied, 3);
    assertEquals(
      (await who(workspace)).map(([, , roles]: string[]) => roles),
      ["audit,deploy", "audit,deploy", "audit,deploy"],
    );
    // The whole feed is still in order: no event_id came twice.
    await sig(workspace, "verify", "$D/acme");
  }));

Deno.test("a list names the person by the root, and each key follows; the plan shows each", () =>
  withIssuer(async (workspace) => {
    const phone = await withKey(workspace, ALICE);
    const header = "subject,type,roles,title";
    const rows = [header, `${ALICE},employee,deploy;audit,CTO`];
    const plan = await list(workspace, "plan", rows, "--format", "json");
    const { changes, unchanged, unmanaged } = JSON.parse(plan.stdout);
    assertEquals([plan.code, unchanged, unmanaged], [1, 0, 0]);
    assertEquals(
      changes.map((
        each: { action: string; subject: string; fields: string[] },
      ) => [each.action, each.subject, each.fields.join()]),
      [["update", ALICE, "roles,title"], ["update", phone, "roles"]],
    );
    const applied = await list(workspace, "apply", rows, "--prune", "--yes");
    assertMatch(applied.stdout, /^Appended 2 events/);
    assertEquals((await who(workspace)).map(([, , roles]: string[]) => roles), [
      ...["audit,deploy", "audit,deploy"],
    ]);
    const after = await list(workspace, "plan", rows, "--prune");
    assertEquals([after.code, after.stdout], [
      0,
      "Nothing to do; 2 as they are.\n",
    ]);
    // Rows of two keys are about one person.
    const both = [...rows, `${phone},employee,deploy,CTO`];
    const refused = await list(workspace, "plan", both, "--format", "json");
    assertEquals(codeOf(refused), [2, "invalid_field"]);
  }));

Deno.test("a row that names the root creates nothing while a key is active, and readmits a person offboarded by any key", () =>
  withIssuer(async (workspace) => {
    const phone = await withKey(workspace, ALICE);
    await sig(
      workspace,
      ...["revoke", ...DIR, "--relationship-id", "r1"],
      ...["--reason-code", "superseded"],
    );
    assertEquals((await who(workspace)).map(([each]: string[]) => each), [
      phone,
    ]);
    const rows = ["subject,type,roles", `${ALICE},employee,deploy`];
    const applied = await list(workspace, "apply", rows, "--prune", "--yes");
    assertEquals(applied.code, 0);
    assertEquals(await who(workspace), [[phone, "employee", "deploy", null]]);
    await sig(
      workspace,
      ...["offboard", ...DIR, "--subject", phone, "--yes"],
      ...["--reason-code", "employment_ended"],
    );
    for (const subject of [ALICE, phone]) {
      const back = ["subject,type", `${subject},employee`];
      const refused = await list(
        workspace,
        ...["apply", back, "--yes", "--format", "json"] as const,
      );
      assertEquals(codeOf(refused), [2, "confirmation_required"]);
      assertStringIncludes(refused.stderr, "--readmit");
    }
  }));

Deno.test("a mover moves with all keys, and leaving ends all of them, in one batch each", () =>
  withIssuer(async (workspace) => {
    const phone = await withKey(workspace, ALICE);
    const rows = ["subject,type", `${ALICE},contractor`];
    const moved = await list(workspace, "apply", rows, "--yes");
    assertMatch(moved.stdout, /^Appended 4 events/);
    assertEquals(await who(workspace), [
      [phone, "contractor", "deploy,review", null],
      [ALICE, "contractor", "deploy,review", null],
    ]);
    // The keys stay one person after both relationships were replaced.
    const text = await sig(
      workspace,
      ...["offboard", ...DIR, "--subject", phone, "--yes", "--format", "json"],
      ...["--reason-code", "contract_ended"],
    );
    assertEquals(JSON.parse(text).applied, 2);
    assertEquals(await who(workspace), []);
  }));

Deno.test("a device that another device has added leaves with the person, however long the chain", () =>
  withIssuer(async (workspace) => {
    let last = ALICE;
    for (let at = 1; at <= 8; at++) {
      const subject = `did:web:device-${at}.example`;
      await sig(
        workspace,
        ...["upsert", ...DIR, "--subject", subject, "--type", "employee"],
        ...["--metadata", JSON.stringify({ same_person_as: last })],
      );
      last = subject;
    }
    const ninth = JSON.stringify({ same_person_as: last });
    const { stderr } = await workspace.sig([
      ...["upsert", ...DIR, "--subject", "did:web:device-9.example"],
      ...["--type", "contractor", "--metadata", ninth],
    ]);
    assertStringIncludes(stderr, "same_person_as is ignored");
    const phone = await withKey(workspace, last);
    await sig(
      workspace,
      ...["offboard", ...DIR, "--subject", ALICE, "--yes"],
      ...["--reason-code", "employment_ended"],
    );
    const left = (await who(workspace)).map(([subject]: string[]) => subject);
    assertEquals([left.includes(phone), left], [
      false,
      ["did:web:device-9.example"],
    ]);
  }));

Deno.test("a key that a link of somebody else has named can not become a key of this person", () =>
  withIssuer(async (workspace) => {
    const answer = await answeredFor(workspace, ALICE, "phone.jwk");
    await sig(
      workspace,
      ...["upsert", ...DIR, "--subject", "did:web:fresh.example"],
      ...["--type", "employee", "--metadata"],
      JSON.stringify({ same_person_as: answer.subject }),
    );
    const refused = await enrolled(workspace, answer);
    assertEquals(codeOf(refused), [2, "subject_mismatch"]);
    assertStringIncludes(refused.stderr, "as another person");
  }));

Deno.test("a further type of a person whose first key is lost is for the keys that are left", () =>
  withIssuer(async (workspace) => {
    const phone = await withKey(workspace, ALICE);
    const watch = await withKey(workspace, phone, "watch.jwk");
    await sig(
      workspace,
      ...["revoke", ...DIR, "--relationship-id", "r1"],
      ...["--reason-code", "permission_revoked"],
    );
    const rows = [
      ...["subject,type,roles", `${ALICE},employee,deploy`],
      `${ALICE},contractor,admin`,
    ];
    const applied = await list(workspace, "apply", rows, "--prune", "--yes");
    assertEquals([applied.code, applied.stderr], [0, ""]);
    const now = await who(workspace);
    const admins = now.filter(([, type]: string[]) => type === "contractor");
    assertEquals(
      new Set(admins.map(([subject]: string[]) => subject)),
      new Set([phone, watch]),
    );
    assertEquals(now.length, 4);
    const after = await list(workspace, "plan", rows, "--prune");
    assertEquals([after.code, after.stdout], [
      0,
      "Nothing to do; 4 as they are.\n",
    ]);
    const named = [
      ...["subject,type,roles,relationship_id"],
      `${ALICE},advisor,guard,own-id`,
    ];
    const one = await list(workspace, "apply", named, "--yes");
    assertEquals([one.code, (await who(workspace)).length], [0, 5]);
  }));
