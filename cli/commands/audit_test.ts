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

test("audit lists gains and losses with the signing key, and expirations", async (workspace) => {
  await addStory(workspace);
  assertEquals(
    await entries(
      workspace,
      "",
      ...["kind", "cause", "relationship_id", "roles_gained", "roles_lost"],
      ...["sequence", "kid", "backdated"],
    ),
    [
      ["gained", "event", "r1", ["deploy", "review"], [], 1, "orgsign-1"],
      ["gained", "event", "r2", [], [], 2, "orgsign-1"],
      ["lost", "event", "r2", [], [], 3, "orgsign-1"],
      ["changed", "event", "r1", ["refund"], ["review"], 4, "orgsign-1"],
      ["gained", "event", "r4", [EVIL], [], 5, "orgsign-1"],
      ["lost", "valid_until", "r4", [], [EVIL], 5, "orgsign-1"],
      ["lost", "event", "r1", [], ["deploy", "refund"], 6, "k2"],
    ].map((row, at) => [...row, at === 6]),
  );
  const { entries: _, ...about } = await workspace.json("audit $D/acme", LATER);
  assertEquals(about, {
    issuer: "did:web:acme.example",
    last_sequence: 6,
    from: null,
    to: "2026-01-01T01:00:00Z",
  });
});

test("audit includes changes after --from, up to and including --to", async (workspace) => {
  await addStory(workspace);
  const sequences = async (words: string) =>
    (await entries(workspace, words, "sequence")).flat();
  const all = await sequences("--from 2026-01-01T00:00:00Z");
  for (
    const [words, expected] of [
      ["--from 2026-01-01T00:30:00Z --to 2026-01-01T01:00:00Z", [6]],
      ["--from 2026-01-01T00:29:59Z --to 2026-01-01T00:30:00Z", [5]],
      ["--to 2025-01-01T00:00:00Z", []],
      // The whole day of all the events.
      ["--from 2026-01-01 --to 2026-01-01", all],
    ] as const
  ) assertEquals(await sequences(words), expected, words);
  await workspace.refused(
    "audit $D/acme --to today",
    "--to must be an RFC 3339 UTC timestamp",
  );
});

test("audit reports a backdated event at the time when it was published, and marks it", async (workspace) => {
  await addStory(workspace);
  const december = "--to 2025-12-31T00:00:00Z";
  const early = "--to 2026-01-01T00:45:00Z";
  const members = ["sequence", "kind", "cause", "at", "known_at"];
  const before = await entries(workspace, early, ...members);
  assertEquals(before.at(-1)?.slice(0, 3), [5, "lost", "valid_until"]);
  // Backdated events: one before all events of that day, one before an
  // expiration, which stays in earlier reports.
  await append(
    workspace,
    `${UPSERT} r5 ${ADAM} --role deploy --valid-until 2025-12-24T00:00:00Z --issued-at 2025-12-20T00:00:00Z`,
    LATER,
  );
  await append(
    workspace,
    `${UPSERT} r4 ${ADAM} --role ${EVIL} --issued-at 2026-01-01T00:15:00Z`,
    LATER,
  );
  assertEquals(await entries(workspace, december, "sequence"), []);
  assertEquals(await entries(workspace, early, ...members), before);
  const came = "2026-01-01T01:00:00Z";
  assertEquals(
    await entries(
      workspace,
      "--from 2026-01-01T00:45:00Z",
      ...["sequence", "kind", "roles_gained", "at", "known_at"],
    ),
    [
      [6, "lost", [], came, came],
      [7, "gained", ["deploy"], "2025-12-20T00:00:00Z", came],
      [7, "lost", [], "2025-12-24T00:00:00Z", came],
      [8, "gained", [EVIL], "2026-01-01T00:15:00Z", came],
    ],
  );
  const { stdout } = await workspace.sig("audit $D/acme", LATER);
  assertStringIncludes(stdout, `known from ${came} on`);
});

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

test("audit reports a change of subject as a loss and a gain", async (workspace) => {
  await append(
    workspace,
    `${UPSERT} r1 --subject did:web:mallory.example --type employee --role deploy`,
  );
  const found = await entries(
    workspace,
    "",
    ...["kind", "subject", "roles_gained", "roles_lost", "before", "after"],
  );
  assertEquals(
    found.slice(-2).map((each) => each.with(4, !each[4]).with(5, !each[5])),
    [
      [
        ...["lost", "did:web:alice.example", [], ["deploy", "review"]],
        ...[false, true],
      ],
      [
        ...["gained", "did:web:mallory.example", ["deploy"], []],
        ...[true, false],
      ],
    ],
  );
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

test("audit of an empty feed reports no changes", async (workspace) => {
  await workspace.ok("init new.example --dir $D/new");
  assertEquals(
    await workspace.ok("audit $D/new"),
    "did:web:new.example, from the beginning on\nnothing happened\n",
  );
  const page = await workspace.ok("audit $D/new --format html");
  assertStringIncludes(page, "Nothing happened.");
});

test("diff exits 0 if two sources are equal, else 1 with the differences", async (workspace) => {
  await workspace.copy("acme", "copy");
  const equal = "equal: did:web:acme.example at event 3\n";
  assertEquals(await workspace.ok("diff $D/copy $D/acme"), equal);
  assertEquals(await workspace.ok("diff --sig $D/copy $D/acme"), equal);
  await addStory(workspace);
  const found = await workspace.json("diff $D/copy $D/acme", LATER);
  assertEquals(found.equal, false);
  assertEquals(
    found.differences.map((each: Entry) => [each.kind, each.fields]),
    [
      ["changed", [
        ...["roles", "status", "last_sequence"],
        ...["revoked_reason_code", "revoked_effective_at"],
      ]],
      ["added", []],
    ],
  );
  await workspace.says("diff $D/copy $D/acme", {
    code: 1,
    out: "roles deploy, review → deploy, refund; status active → revoked",
  });
  const back = await workspace.sig("diff $D/acme $D/copy");
  assertStringIncludes(back.stdout, "removed  r4");
});

test("diff compares two times of one source", async (workspace) => {
  await workspace.ok("diff $D/acme --from 2 --to 2");
  await workspace.says("diff $D/acme --from 2 --to 3", {
    code: 1,
    out: "status active → revoked",
  });
  for (
    const [words, why] of [
      ["diff $D/acme --from 1 --to 99", "consistency_unavailable"],
      ["diff $D/acme", "there is nothing to compare with"],
      ["diff $D/acme $D/acme --from 1", "--from and --to are for one source"],
      [
        "diff --sig $D/acme $D/acme $D/acme",
        "more than two sources were given",
      ],
      ["diff", "<source> is missing"],
      ["diff $D/acme --from 0", "--from must be a sequence"],
    ] as const
  ) await workspace.refused(words, why);
});

test("audit shows changes of fields besides roles", async (workspace) => {
  const set = "set --dir $D/acme --relationship-id";
  const later = "--valid-from 2030-01-01T00:00:00Z";
  for (
    const words of [
      `${UPSERT} r4 ${ADAM} --role deploy --valid-until 2026-06-30T00:00:00Z`,
      `${set} r4 --valid-until none`,
      `${set} r4 --title Deployer`,
      `${UPSERT} r5 ${ADAM} --role deploy ${later}`,
      `${set} r5 --role refund --role review`,
    ]
  ) await append(workspace, words);
  const lines = (await audit(workspace)).split("\n");
  for (
    const [sequence, kind, says] of [
      [5, "changed", "valid_until 2026-06-30T00:00:00Z → none"],
      [6, "changed", "nothing that affects a check"],
      [8, "recorded", "roles deploy → refund, review"],
    ] as const
  ) {
    const line = lines.find((each) => each.endsWith(`#${sequence}`)) ?? "";
    assertStringIncludes(line, `  ${kind}`);
    assertStringIncludes(line, `  ${says}  `);
  }
  const page = await audit(workspace, "--format html");
  assertStringIncludes(page, "valid_until 2026-06-30T00:00:00Z → none");
});
