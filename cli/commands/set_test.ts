import { DatabaseSync } from "node:sqlite";
import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  issuerTest as test,
  terminal,
  wordsOf,
  type Workspace,
} from "../testdata/workspace.ts";

const ALICE = "did:web:alice.example";
const SET = "set --dir $D/acme";
const UPSERT = "upsert --dir $D/acme --type";
const OFFBOARD = "offboard --dir $D/acme";

async function lastEvent(workspace: Workspace) {
  return (await workspace.events()).at(-1)!;
}

test("set keeps every value without a flag", async (workspace) => {
  await workspace.sig(
    `${UPSERT} employee --subject ${ALICE} --relationship-id r1 --role deploy --valid-until 2027-01-01T00:00:00Z --title CTO --department Ops --visibility public --reason ticket-7 --metadata {"badge":7}`,
  );
  const said = await workspace.ok(
    `${SET} --subject ${ALICE} --add-role review`,
  );
  assertStringIncludes(said, "deploy → deploy, review");
  assertStringIncludes(said, "Appended 1 event (seq=5)");
  const event = await lastEvent(workspace);
  assertEquals(event.roles, ["deploy", "review"]);
  assertEquals(event.valid_until, "2027-01-01T00:00:00Z");
  assertEquals(event.display, { title: "CTO", department: "Ops" });
  assertEquals(event.metadata, { badge: 7 });
  assertEquals(event.reason, "ticket-7");
});

test("set and upsert accept dates without times, none removes a value, and an empty change appends nothing", async (workspace) => {
  const dated = async (words: string) => {
    await workspace.ok(
      `${words} --valid-from 2026-02-01 --valid-until 2027-06-30`,
    );
    const { valid_from, valid_until } = await lastEvent(workspace);
    assertEquals(
      [valid_from, valid_until],
      ["2026-02-01T00:00:00Z", "2027-07-01T00:00:00Z"],
    );
  };
  await dated(`${UPSERT} advisor --subject ${ALICE}`);
  const set = `${SET} --relationship-id r1`;
  await dated(`${set} --label x`);
  await workspace.ok(`${set} --valid-until none --label none --role lead`);
  const event = await lastEvent(workspace);
  assertEquals(
    [event.valid_from, event.valid_until, event.roles, event.display ?? null],
    ["2026-02-01T00:00:00Z", null, ["lead"], null],
  );
  assertEquals(
    await workspace.ok(`${set} --role lead`),
    "Nothing to do: the feed already says all of this.\n",
  );
  assertEquals((await lastEvent(workspace)).sequence, event.sequence);
  await workspace.ok(`${set} --no-roles`);
  assertEquals((await lastEvent(workspace)).roles, []);
});

test("set refuses ambiguous, unknown, revoked and misspelt relationships and roles, and writes nothing", async (workspace) => {
  await workspace.sig(
    `${UPSERT} employee --subject ${ALICE} --relationship-id r9`,
  );
  const none = (flag: string) =>
    `error: invalid_request: Cannot run: --${flag} none would grant a role named "none" (at flag --${flag})\n` +
    "  hint: --no-roles takes all roles away.\n";
  for (
    const [words, expected] of [
      [
        `--subject ${ALICE} --role x`,
        "ambiguous_relationship: Cannot set: 2 active relationships match the flags: r1 (employee, deploy, review); r9 (employee)",
      ],
      [
        "--subject did:web:nobody.example --role x",
        "unknown_relationship: Cannot set: no active relationship",
      ],
      [
        "--relationship-id r1 --type contractor --role x",
        "unknown_relationship: Cannot set: no active relationship",
      ],
      [
        "--relationship-id r2 --role x",
        "already_revoked: Cannot set: the relationship is revoked",
      ],
      ["--relationship-id r1 --remove-role deplyo", "Did you mean deploy?"],
      ["--relationship-id r1", "no change was given"],
      ["--role x", "--relationship-id or --subject is required"],
      [
        "--relationship-id r1 --role x --add-role y",
        "--role replaces all roles",
      ],
      ["--relationship-id r1 --valid-until 03/04/2027", "it is ambiguous"],
      [
        "--relationship-id r1 --valid-until 2020-01-01 --valid-from 2021-01-01",
        "valid_until",
      ],
      ["--relationship-id r1 --role none", none("role")],
      ["--relationship-id r1 --add-role none", none("add-role")],
      ...["role", "add-role", "remove-role"].map((flag) => [
        `--relationship-id r1 --no-roles --${flag} x`,
        `--${flag} and --no-roles contradict each other`,
      ]),
    ] as const
  ) await workspace.refused(`${SET} ${words}`, expected!);
});

test("set confirms a doubtful value once, and after a concurrent append only new doubts", async (workspace) => {
  const add = async (role: string, meanwhile: string) => {
    const given = terminal(async (_, count) => {
      if (count === 1) await workspace.sig(meanwhile);
      return true;
    });
    await workspace.ok(`${SET} --relationship-id r1 --add-role ${role}`, given);
    return given.asked.map((question) => question.split(/[;,:]/, 1)[0]);
  };
  const unrelated = `${UPSERT} advisor --subject did:web:eve.example`;
  assertEquals(await add("a,b", unrelated), ['"a']);
  const ending = `${SET} --relationship-id r1 --valid-until 2020-01-01`;
  assertEquals(await add("c,d", ending), ['"c', "it already ended"]);
  const { roles, valid_until } = await lastEvent(workspace);
  assertEquals(roles, ["a,b", "c,d", "deploy", "review"]);
  assertEquals(valid_until, "2020-01-02T00:00:00Z");
});

test("plan, apply and set warn about expired relationships", async (workspace) => {
  const end = "2025-12-01T00:00:00Z";
  const zoe = "did:web:zoe.example";
  await workspace.sig(
    `${UPSERT} employee --subject ${zoe} --valid-until ${end} --relationship-id z`,
  );
  // It ends later, so no command warns about it.
  const yan = "did:web:yan.example";
  await workspace.sig(
    `${UPSERT} employee --subject ${yan} --valid-until 2099-01-01`,
  );
  const list = "--dir $D/acme --from $D/people.csv";
  await workspace.write(
    "people.csv",
    `subject,type\n${ALICE},employee\n${zoe},employee\n${yan},employee\n`,
  );
  const says = (row: number) =>
    `warning: row ${row}: the relationship of ${zoe} expired at ${end}: every check denies it\n`;
  const run = async (words: string) => {
    const { code, stderr } = await workspace.sig(words);
    return [code, stderr];
  };
  assertEquals(await run(`plan ${list}`), [0, says(3)]);
  assertEquals(await run(`apply ${list} --yes`), [0, says(3)]);
  assertEquals((await workspace.json(`plan ${list}`)).expired, [
    { relationship_id: "z", subject: zoe, valid_until: end, row: 3 },
  ]);
  // A change that keeps the end, then one without any effect.
  for (const _ of [1, 2]) {
    assertEquals(await run(`${SET} --subject ${zoe} --add-role x`), [
      0,
      `warning: it already ended, at ${end}: every check will deny it\n`,
    ]);
  }
  await workspace.write(
    "people.csv",
    `subject,type,title\n${zoe},employee,Boss\n`,
  );
  assertEquals(await run(`plan ${list}`), [1, says(2)]);
});

test("upsert, plan and doctor report names that differ from a published name in case or invisible characters", async (workspace) => {
  const bob = "did:web:bob.example";
  const differs =
    "in case or in characters that are not visible; checks compare exactly";
  const [subject, role, hidden, none] = [
    `the subject "did:web:Alice.example" differs from "did:web:alice.example" ${differs}`,
    `the role "Review" differs from "review" ${differs}`,
    'the role "ad\\u200bmin" contains a character that is not visible',
    '"none" is a role with that name, and removes no role',
  ];
  const doubtful = [
    ["did:web:Alice.example", subject],
    [`${bob} --role Review`, role],
    [`${bob} --role ad\u200bmin`, hidden],
    [`${bob} --role none`, none],
  ] as const;
  for (const [words, doubt] of doubtful) {
    const given = terminal(() => false);
    await workspace.refused(`${UPSERT} advisor --subject ${words}`, [], given);
    assertEquals(given.asked, [`${doubt}. Append anyway?`]);
  }
  await workspace.write(
    "people.csv",
    "subject,type,roles\ndid:web:Alice.example,advisor,\n" +
      `${bob},advisor,Review;ad\u200bmin;none\n` +
      "did:web:eve.example,advisor,REVIEW\n",
  );
  const plan = "plan --dir $D/acme --from $D/people.csv";
  const { doubts } = await workspace.json(plan);
  assertEquals(doubts, [
    `row 2: ${subject}`,
    ...[role, hidden, none].map((doubt) => `row 3: ${doubt}`),
    `row 4: ${role!.replace("Review", "REVIEW")}`,
  ]);
  assertEquals(
    (await workspace.sig(plan)).stderr,
    doubts.map((doubt: string) => `warning: ${doubt}\n`).join(""),
  );
  for (const [words] of doubtful) {
    await workspace.says(`${UPSERT} advisor --subject ${words}`);
  }
  const { findings } = await workspace.json("doctor $D/acme");
  assertEquals(
    findings.filter(({ code }: { code: string }) => code === "similar_names")
      .map(({ what }: { what: string }) => what),
    [
      'the subjects "did:web:Alice.example", "did:web:alice.example" look the same',
      'the roles "Review", "review" look the same',
      'one of the roles, "ad\\u200bmin", contains a character that is not visible',
    ],
  );
  // Published names cause no warning.
  const { stderr } = await workspace.sig(
    `${UPSERT} advisor --subject ${bob} --role Review --role review`,
  );
  assertEquals(stderr.includes("differs"), false);
});

test("offboard ends all active relationships, or all of one type, in one batch", async (workspace) => {
  const words = `${OFFBOARD} --subject ${ALICE} --reason-code other --yes`;
  const advisor = `${UPSERT} advisor --subject ${ALICE} --relationship-id r9`;
  await workspace.ok(advisor);
  assertEquals(
    await workspace.ok(`${words} --type advisor`),
    `- end  ${ALICE}  advisor  r9\n    roles             none\nAppended 1 event (seq=5)\n`,
  );
  await workspace.sig(advisor);
  const done = await workspace.json(words);
  assertEquals(
    [done.applied, done.first_sequence, done.last_sequence],
    [2, 7, 8],
  );
  for (const type of ["employee", "advisor"]) {
    await workspace.says(
      `check --sig $D/acme --subject ${ALICE} --require relationship=${type}`,
      { code: 1 },
    );
  }
  await workspace.refused(
    words,
    `unknown_relationship: Cannot offboard: "${ALICE}" has no active relationship`,
  );
});

test("offboard shows each relationship, asks on a terminal, and needs --yes elsewhere", async (workspace) => {
  await workspace.write(
    "acme/.sig/people.csv",
    `subject,name\n${ALICE},Alice Doe\n`,
  );
  const words = `${OFFBOARD} --subject ${ALICE} --reason-code employment_ended`;
  const refused =
    "confirmation_required: Cannot offboard: ending 1 relationship is not confirmed";
  for (const given of [{}, { terminals: ["stdout"] as const }]) {
    await workspace.refused(words, [refused, "It would end r1."], given);
  }
  const shown = `- end  Alice Doe  ${ALICE}  employee  r1\n` +
    "    roles             deploy, review\n";
  await workspace.says(words, {
    ...terminal(() => false),
    code: 2,
    stdout: shown,
    err: refused,
  });
  assertEquals((await lastEvent(workspace)).sequence, 3);
  const given = terminal();
  assertEquals(
    await workspace.ok(words, given),
    `${shown}Appended 1 event (seq=4)\n`,
  );
  assertEquals(given.asked, ["End 1 relationship?"]);
});

test("offboard refuses an --effective-at in the future and suggests --valid-until", async (workspace) => {
  const said = await workspace.refused(
    `${OFFBOARD} --subject ${ALICE} --reason-code employment_ended --yes --effective-at 2030-01-01T00:00:00Z --format json`,
    '"code":"invalid_field"',
  );
  const { detail, hint } = JSON.parse(said);
  assertEquals(
    detail,
    "Cannot append: effective_at is more than 60 s after issued_at",
  );
  assertStringIncludes(
    hint,
    "An end that lies ahead is the valid_until of an upsert (sig set --valid-until).",
  );
  await workspace.ok(`${SET} --subject ${ALICE} --valid-until 2030-01-01`);
});

test("upsert and revoke report dropped fields and relationships that stay active, also as JSON", async (workspace) => {
  const upsert = `${UPSERT} employee --subject ${ALICE} --relationship-id`;
  const revoke = "revoke --dir $D/acme --reason-code other --relationship-id";
  await workspace.sig(
    `${upsert} r1 --role deploy --valid-until 2027-01-01T00:00:00Z --department Ops`,
  );
  const replaced =
    "warning: this replaced r1 and dropped role deploy, valid_until 2027-01-01T00:00:00Z, department Ops; sig set keeps what is not named\n";
  const another =
    "warning: the subject has another active relationship of this type (r1): revoking one leaves the rest; sig offboard ends them all\n";
  for (
    const [args, stdout, stderr] of [
      // A replacement, a second one, the same once more, one of two revoked.
      [`${upsert} r1 --role review`, "upsert r1 (seq=5)", replaced],
      [`${upsert} r9 --event-id e9`, "upsert r9 (seq=6)", another],
      [
        `${upsert} r9 --event-id e9`,
        "upsert r9 (seq=6)",
        "warning: event e9 is already in the feed (seq=6); nothing was written\n",
      ],
      [
        `${revoke} r9`,
        "revoke r9 (seq=7)",
        "warning: the subject still has active relationships: r1 (employee, review); sig offboard ends them all\n",
      ],
    ] as const
  ) {
    const appended = `Appended relationship.${stdout}\n`;
    await workspace.says(args, { stdout: appended, stderr });
  }
  const { notices } = await workspace.json(`${upsert} r7`);
  assertEquals(notices.map((each: string) => `warning: ${each}\n`), [another]);
});

test("expired relationships are not reported as still active", async (workspace) => {
  const upsert = `${UPSERT} advisor --subject ${ALICE} --relationship-id`;
  await workspace.sig(`${upsert} old --valid-until 2001-01-01T00:00:00Z`);
  await workspace.ok(`${upsert} new`);
  await workspace.ok(
    `${OFFBOARD} --subject ${ALICE} --type employee --reason-code other --yes`,
  );
  await workspace.ok(
    "revoke --dir $D/acme --relationship-id new --reason-code other",
  );
});

test("on a terminal upsert confirms a comma in a role, an end in the past and a reactivation; elsewhere it warns", async (workspace) => {
  const doubtful = [
    // A direction override in a value must not reorder the question.
    ["--role deploy,\u202ereview", '"deploy,\\u202ereview" is one role'],
    ["--valid-until 2020-01-01T00:00:00Z", "it already ended"],
    ["--relationship-id r2", "relationship r2 is revoked (seq=3)"],
  ] as const;
  const upsert = `${UPSERT} other --subject did:web:bob.example`;
  for (const [words, doubt] of doubtful) {
    const given = terminal(() => false);
    const refusal = "confirmation_required: Cannot append";
    await workspace.refused(`${upsert} ${words}`, refusal, given);
    assertEquals(given.asked.length, 1);
    assertStringIncludes(given.asked[0]!, doubt);
  }
  for (const [words, doubt] of doubtful) {
    // stdin is not a terminal, as in a loop over a list, so there is no
    // question.
    await workspace.says(`${upsert} ${words}`, {
      ...terminal(() => false),
      terminals: ["stdout"],
      err: doubt,
    });
  }
});

test("set reads the verified feed, not a manipulated index", async (workspace) => {
  using db = new DatabaseSync(workspace.path("acme/.sig/index.db"));
  const first = db.prepare(
    "SELECT * FROM relationships WHERE relationship_id = 'r1'",
  ).get()!;
  await workspace.sig(`${SET} --relationship-id r1 --remove-role review`);
  await workspace.sig(
    "revoke --dir $D/acme --relationship-id r1 --reason-code other",
  );
  db.prepare(
    "UPDATE relationships SET status = 'active', last_sequence = ?, offset = ?, bytes = ? WHERE relationship_id = 'r1'",
  ).run(first.last_sequence!, first.offset!, first.bytes!);
  db.close();
  await workspace.refused(
    `${SET} --relationship-id r1 --title Boss`,
    "already_revoked: Cannot set: the relationship is revoked",
  );
});

const PHONE = "did:web:alice-phone.example";

/** Gives Alice's phone a relationship with this id. */
const addToPhone = (workspace: Workspace, id: string) =>
  workspace.ok([
    ...`upsert --dir $D/acme --subject ${PHONE} --type employee`.split(" "),
    ...["--role", "deploy", "--relationship-id", id],
    ...["--metadata", '{"same_person_as":"did:web:alice.example"}'],
  ]);

test("set of a named relationship is refused where another key has several of the type, and changes each other key that has one", async (workspace) => {
  await addToPhone(workspace, "dev-2");
  const set = "set --dir $D/acme --relationship-id r1 --valid-until 2027-06-30";
  await workspace.ok(set);
  const ends = async () =>
    (await workspace.json("who $D/acme")).map((
      each: { relationship_id: string; valid_until: string },
    ) => [each.relationship_id, each.valid_until?.slice(0, 10)]);
  assertEquals(await ends(), [["dev-2", "2027-07-01"], ["r1", "2027-07-01"]]);
  await workspace.sig(
    `upsert --dir $D/acme --subject ${PHONE} --type employee --relationship-id ops-2`,
  );
  await workspace.refused(set.replace("2027", "2028"), [
    'ambiguous_relationship: Cannot set: "r1" is one relationship of a person whose key "did:web:alice-phone.example" has 2 of this type: "dev-2", "ops-2"',
    "To change it alone, use sig upsert --relationship-id r1",
    "name all of these relationships in a list",
  ]);
});

test("a repeated set --event-id writes nothing, also for keys whose events have derived ids", async (workspace) => {
  await addToPhone(workspace, "dev-2");
  const grant =
    "set --dir $D/acme --subject did:web:alice.example --add-role ship --event-id job-7";
  await workspace.ok(grant);
  const events = await workspace.events();
  assertEquals(events.slice(-2).map(({ event_id }) => event_id), [
    "job-7",
    "job-7~2",
  ]);
  const remove =
    "set --dir $D/acme --subject did:web:alice.example --remove-role ship";
  await workspace.ok(remove);
  const { length } = await workspace.events();
  // The granted role was withdrawn meanwhile, and is not granted again.
  await workspace.says(grant, { err: "1 event already in the feed" });
  assertEquals((await workspace.events()).length, length);
  // A key that was added meanwhile gets nothing either.
  await workspace.ok(
    `upsert --dir $D/acme --subject did:web:alice-tablet.example --type employee --relationship-id t --metadata {"same_person_as":"${PHONE}"}`,
  );
  await workspace.says(grant, { err: "1 event already in the feed" });
  assertEquals((await workspace.events()).length, length + 1);
});

test("upsert for a person who was revoked says when and why, and asks on a terminal", async (workspace) => {
  const doubt = "did:web:bob.example was revoked at 2026-01-01T00:00:0";
  const upsert =
    "upsert --dir $D/acme --type advisor --subject did:web:bob.example";
  const given = terminal(() => false);
  await workspace.refused(upsert, "confirmation_required: ", given);
  assertStringIncludes(given.asked[0]!, doubt);
  assertStringIncludes(given.asked[0]!, "(contract_ended, r2, seq=3)");
  await workspace.says(upsert, { err: doubt });
  // Now an active relationship exists.
  assertEquals(
    (await workspace.sig(`${upsert} --role x`)).stderr.includes(doubt),
    false,
  );
});

test("no role with a control character is given, and one can be removed", async (workspace) => {
  const code = "error: invalid_request: ";
  const set = ["set", "--dir", "$D/acme", "--relationship-id", "r1"];
  for (
    const [words, flag] of [
      [set, "--add-role"],
      [set, "--role"],
      [wordsOf(`${UPSERT} other --subject ${ALICE}`), "--role"],
    ] as const
  ) {
    const refused = [code, `${flag} must have no control`];
    await workspace.refused([...words, flag, "a\nb"], refused);
  }
  await workspace.write(
    "list.csv",
    `subject,type,roles\ndid:web:carol.example,other,"a\u0007b"\n`,
  );
  await workspace.refused(
    "plan --dir $D/acme --from $D/list.csv",
    "a role must be text without control characters",
  );
  await workspace.refused(
    [...set, "--remove-role", "a\nb"],
    'the relationship has no role "a\\nb" to remove',
  );
});

test("a repeated set --event-id shows no empty change", async (workspace) => {
  const set =
    "set --dir $D/acme --relationship-id r1 --add-role x --event-id s1";
  await workspace.says(set, { out: "~ change  did:web:alice.example" });
  const { stdout } = await workspace.says(set);
  assertEquals(stdout.includes("~"), false, stdout);
});

test("previews show the name and a short DID, and a people file that others may change is a warning", async (workspace) => {
  const key = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
  await workspace.ok(`upsert --dir $D/acme --subject ${key} --type advisor`);
  const people = "acme/.sig/people.csv";
  await workspace.write(people, `subject,name\n${key},Ada\n`);
  const set = `set --dir $D/acme --subject Ada --add-role`;
  const { stdout, stderr } = await workspace.says(`${set} x`);
  assertStringIncludes(stdout, "~ change  Ada  did:key:z6MkiTB…");
  assertEquals([stdout.includes(key), stderr], [false, ""]);
  await Deno.chmod(workspace.path(people), 0o666);
  await workspace.says(`${set} y`, {
    err: "warning: other users may change the people file: chmod go-w",
  });
});
