import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  FEED,
  issuerTest as test,
  terminal,
  type Workspace,
} from "../testdata/workspace.ts";

// promise: Changes are computed from the verified feed, and a saved plan can't
//   hide one.

const HEADER = "subject,type,roles,valid_until,title\n";
const ALICE = "did:web:alice.example,employee,deploy;review,,\n";
const EVE = "did:web:eve.example,advisor,,,\n";

const PLAN = "plan --dir $D/acme --from $D/people.csv";
const APPLY = "apply --dir $D/acme --from $D/people.csv";
const SAVED = "apply --dir $D/acme --plan $D/plan.json";
const NOTHING = "Nothing to do: the feed already says all of this.\n";

const list = (workspace: Workspace, ...rows: readonly string[]) =>
  workspace.write("people.csv", rows.join(""));

/** Saves the plan of the list and then applies `forge` to the file. */
async function savePlan(
  workspace: Workspace,
  // deno-lint-ignore no-explicit-any -- a file as a forger changes it
  forge: (plan: any) => unknown = (plan) => plan,
): Promise<void> {
  await Deno.remove(workspace.path("plan.json")).catch(() => {});
  await workspace.sig(`${PLAN} --out $D/plan.json`);
  const plan = JSON.parse(await workspace.read("plan.json"));
  await workspace.write("plan.json", JSON.stringify(forge(plan)));
}

test("plan exits 0 without changes and 1 with changes, and writes nothing", async (workspace) => {
  await list(workspace, HEADER, ALICE);
  assertEquals(
    await workspace.ok(PLAN),
    "Nothing to do; 1 as they are.\n",
  );
  await list(workspace, HEADER, ALICE.replace("review", "refund"));
  const before = await workspace.snapshot();
  await workspace.says(PLAN, {
    code: 1,
    out: "deploy, review → deploy, refund",
    stderr: "",
  });
  assertEquals(await workspace.snapshot(), before);
});

test("plan --format json prints the members that scripts use", async (workspace) => {
  await list(workspace, HEADER, EVE);
  const { based_on, ...plan } = await workspace.json(PLAN);
  assertEquals(based_on.last_sequence, 3);
  assertEquals(based_on.feed_sha256.length, 64);
  assertEquals(plan, {
    issuer: "did:web:acme.example",
    changes: [{
      action: "create",
      relationship_id: null,
      subject: "did:web:eve.example",
      before: null,
      after: {
        ...{ relationship_type: "advisor", roles: [], metadata: null },
        ...{ valid_from: null, valid_until: null },
        ...{ title: null, department: null, label: null },
      },
      fields: ["relationship_type"],
      row: 2,
    }],
    unchanged: 0,
    unmanaged: 1,
    waiting: [],
    unlisted: [{
      ...{ person: null, name: null, subject: "did:web:alice.example" },
      roles: ["deploy", "review"],
    }],
  });
});

test("apply shows the plan and asks on a terminal, and needs --yes elsewhere", async (workspace) => {
  await list(workspace, HEADER, ALICE, EVE);
  await workspace.write(
    "acme/.sig/people.csv",
    "subject,name\ndid:web:eve.example,Eve Roe\n",
  );
  const refusal = [
    "confirmation_required: Cannot apply plan: 1 change not confirmed",
    "--yes",
  ];
  await workspace.refused(APPLY, refusal);
  // stdin is not a terminal, so neither the plan nor a question is shown.
  const piped = { ...terminal(), terminals: ["stdout"] as const };
  await workspace.refused(APPLY, refusal, piped);
  assertEquals(piped.asked, []);
  await workspace.says(APPLY, {
    ...terminal(() => false),
    code: 2,
    out: "+ add  Eve Roe  did:web:eve.example  advisor",
  });
  assertEquals((await workspace.events()).length, 3);
  const given = terminal();
  const said = await workspace.ok(APPLY, given);
  assertStringIncludes(said, "Appended 1 event (seq=4)");
  assertEquals(given.asked, ["Append this?"]);
});

test("repeating apply changes nothing", async (workspace) => {
  await list(workspace, HEADER, ALICE, EVE);
  const { events: [event], ...first } = await workspace.json(`${APPLY} --yes`);
  assertEquals(first, {
    ...{ applied: 1, first_sequence: 4, last_sequence: 4, unlisted: [] },
  });
  assertEquals([event.sequence, event.action], [4, "create"]);
  assertEquals(await workspace.json(`${APPLY} --yes`), {
    ...{ applied: 0, first_sequence: null, last_sequence: null, events: [] },
    unlisted: [],
  });
});

test("a saved plan keeps the reason, can be applied once, and is refused after later events", async (workspace) => {
  await workspace.sig(
    "upsert --dir $D/acme --subject did:web:carol.example --type employee --relationship-id c --reason 'ticket 7'",
  );
  await list(
    workspace,
    "subject,type,title\ndid:web:carol.example,employee,Boss\n",
  );
  await savePlan(workspace);
  await workspace.ok(`${SAVED} --yes`);
  const { display, reason } = (await workspace.events()).at(-1);
  assertEquals([display, reason], [{ title: "Boss" }, "ticket 7"]);
  assertEquals(await workspace.ok(`${SAVED} --yes`), NOTHING);
  await workspace.sig(
    "revoke --dir $D/acme --relationship-id c --reason-code other",
  );
  await workspace.refused(
    `${SAVED} --yes`,
    "plan_outdated: Cannot apply plan: the feed ends at sequence 6",
  );
});

test("apply refuses a saved plan that was edited or is of another issuer, or another file", async (workspace) => {
  await list(workspace, HEADER, ALICE.replace("review", "refund"));
  await savePlan(workspace, ({ changes: [change], ...plan }) => ({
    ...{ ...plan, changes: [{ ...change, subject: "did:web:eve.example" }] },
  }));
  await workspace.refused(`${SAVED} --yes`, "error: plan_outdated: ");
  await savePlan(workspace, (plan) => ({
    ...{ ...plan, issuer: "did:web:other.example" },
  }));
  await workspace.refused(
    `${SAVED} --yes`,
    "error: issuer_mismatch: Cannot apply plan: it was made for another issuer",
  );
  await savePlan(workspace, () => []);
  await workspace.refused(`${SAVED} --yes`, "error: invalid_request: ");
});

test("apply shows the real changes of an edited plan", async (workspace) => {
  await list(
    workspace,
    "subject,type,title\ndid:web:alice.example,employee,Boss\n",
  );
  for (const fields of [["title"], [], undefined, ["\u001b[2J"]]) {
    await savePlan(workspace, ({ changes: [change], ...plan }) => {
      change.after.roles.push("admin");
      return { ...plan, changes: [{ ...change, fields }] };
    });
    const given = terminal(() => false);
    const { code, stdout, stderr } = await workspace.sig(
      `${SAVED} --new-role admin`,
      given,
    );
    assertEquals([code, given.asked], [2, ["Append this?"]]);
    assertStringIncludes(stderr, "confirmation_required: ");
    assertStringIncludes(stdout, "deploy, review → deploy, review, admin");
    assertStringIncludes(stdout, "none → Boss");
  }
});

const PEOPLE = Array.from(
  { length: 8 },
  (_, at) => `did:web:p${at}.example,advisor,x,,\n`,
);

test("apply needs the exact number of people who gain or lose access, for a list and for a saved plan", async (workspace) => {
  await list(workspace, HEADER, ALICE, ...PEOPLE);
  await workspace.refused(`${APPLY} --yes`, [
    "confirmation_required: Cannot apply plan: 8 people would gain access, 1 have it now",
    "add --confirm-grants 8",
  ]);
  await workspace.ok(`${APPLY} --yes --confirm-grants 8 --new-role x`);
  const lost =
    "confirmation_required: Cannot apply plan: 8 of 9 people would lose access";
  await list(workspace, HEADER, ALICE);
  const prune = `${APPLY} --prune --yes --reason-code contract_ended`;
  await workspace.refused(prune, [lost, "add --confirm-losses 8"]);
  await list(
    workspace,
    HEADER,
    ...PEOPLE.map((row) => row.replace("advisor", "contractor")),
  );
  await savePlan(workspace);
  await workspace.refused(
    `${SAVED} --yes`,
    "add --confirm-losses 8 --confirm-grants 8",
  );
  await list(workspace, HEADER, ALICE);
  await workspace.ok(`${prune} --confirm-losses 8`);
  await workspace.says(
    "check --sig $D/acme --subject did:web:p3.example --require relationship=advisor",
    { code: 1 },
  );
});

test("apply readmits an offboarded person only with --readmit", async (workspace) => {
  const bob = "did:web:bob.example";
  for (const row of [`${bob},contractor,,,\n`, `${bob},contractor,x,,\n`]) {
    await list(workspace, HEADER, ALICE, row);
    await workspace.says(PLAN, {
      code: 1,
      out: [
        "    was revoked       2026-01-01T00:00:0",
        "Z, contract_ended (r2, seq=3); needs --readmit\n",
      ],
    });
    await workspace.refused(
      `${APPLY} --yes`,
      `confirmation_required: Cannot apply plan: 1 revoked relationship would be re-admitted, such as that of "${bob}" (contract_ended, 2026-01-01T`,
    );
  }
  await savePlan(
    workspace,
    ({ changes: [{ readmits, ...change }], ...plan }) => {
      assertEquals(readmits.reason_code, "contract_ended");
      return { ...plan, changes: [change] };
    },
  );
  await workspace.refused(`${SAVED} --yes`, "confirmation_required: ");
  assertEquals(
    await workspace.ok(`${SAVED} --yes --readmit --new-role x`),
    "Appended 1 event (seq=4)\n",
  );
});

test("after a concurrent append apply --from plans again, and confirms again only if the plan changed", async (workspace) => {
  await list(workspace, HEADER, ALICE, EVE);
  const meanwhile = (words: string) =>
    terminal(async (_, count) => {
      if (count === 1) {
        await workspace.says(`${words} --dir $D/acme`);
      }
      return true;
    });
  const same = meanwhile("upsert --subject did:web:joe.example --type advisor");
  const said = await workspace.ok(APPLY, same);
  assertStringIncludes(said, "Appended 1 event (seq=5)");
  assertEquals(same.asked.length, 1);
  await list(workspace, HEADER, ALICE.replace("review", "refund"));
  const other = meanwhile("set --relationship-id r1 --title Boss");
  assertStringIncludes(
    await workspace.ok(`${APPLY} --new-role refund`, other),
    "Boss → none",
  );
  assertEquals(other.asked.length, 2);
});

test("one error reports all faulty rows with their numbers, nothing is written, and a list on stdin needs --input", async (workspace) => {
  const rows = [1, 2, 3, 4].map((n) =>
    `did:web:p${n}.example,advisor,,${n === 3 ? "" : "03/04/2026"},\n`
  );
  await list(workspace, HEADER, ...rows, "short,row\n", "bob,advisor,,,\n");
  const stderr = await workspace.refused(`${APPLY} --yes`, [
    "  invalid_field rows 2 to 3, 5, column valid_until: it is ambiguous",
    "  invalid_field row 6: it has 2 cells",
    "  invalid_field row 7, column subject: ",
  ]);
  assertEquals(stderr.match(/is ambiguous/g)?.length, 1);
  const json = await workspace.refused(`${PLAN} --format json`, []);
  assertEquals(JSON.parse(json).errors.length, 5);
  const read = "plan --dir $D/acme --from - --input";
  const stdin = (text: string) => ({ stdin: text });
  await workspace.ok(`${read} csv`, stdin(HEADER + ALICE));
  for (
    const [words, text, says] of [
      ["plan --dir $D/acme --from -", HEADER, "--input is required"],
      [
        `${read} json`,
        '[{"subject":1,"subject":2}]',
        "invalid_json: Cannot read list: /0",
      ],
      [`${read} json`, "[{", "Cannot read list: syntax error at"],
    ] as const
  ) await workspace.refused(words, says, stdin(text));
});

test("in a CSV cell, ; and , separate roles; in JSON, plan and apply warn once about a role that contains one", async (workspace) => {
  await list(
    workspace,
    HEADER,
    'did:web:eve.example,advisor,"deploy, review",,\n',
  );
  assertStringIncludes(
    (await workspace.sig(PLAN)).stdout,
    "    roles             deploy, review\n",
  );
  const rows = ["eve", "fay"].map((name) => ({
    ...{ subject: `did:web:${name}.example`, type: "advisor" },
    roles: ["deploy,review"],
  }));
  await workspace.write("people.json", JSON.stringify(rows));
  const plan = PLAN.replace("csv", "json");
  const apply = `${APPLY.replace("csv", "json")} --new-role deploy,review`;
  const says =
    'warning: row 1: "deploy,review" is one role with a comma in it; several are separated by ; in CSV, and are items of a list elsewhere\n';
  await workspace.says(plan, { code: 1, stderr: says });
  // The warning is between the plan and the question.
  let shown = "";
  const show = (text: string) => void (shown += text);
  const { io: _, ...given } = terminal();
  await workspace.says(apply, {
    ...given,
    io: { stdout: show, stderr: show, ask: (text) => (show(text), false) },
    code: 2,
  });
  assertStringIncludes(shown, `end it with --prune.\n${says}Append this?`);
  await workspace.says(`${apply} --yes`, { stderr: says });
  await workspace.ok(plan);
  // A repaired role is shown in quotation marks.
  await list(
    workspace,
    HEADER,
    ...["eve", "fay"].map((name) =>
      `did:web:${name}.example,advisor,"deploy, review",,\n`
    ),
  );
  assertStringIncludes(
    (await workspace.sig(PLAN)).stdout,
    'roles             "deploy,review" → "deploy" "review"\n',
  );
  const { stderr } = await workspace.sig(
    "upsert --dir $D/acme --subject did:web:gus.example --type advisor --role deploy;review",
  );
  assertEquals(
    stderr,
    'warning: "deploy;review" is one role with a semicolon in it; several are given as --role A --role B\n',
  );
});

test("apply --prune states the reason code that it publishes, also from a saved plan, which keeps persons and names", async (workspace) => {
  const prune = "--prune --reason-code employment_ended";
  await list(
    workspace,
    "person,name,subject,type\n7,Eve Roe,did:web:eve.example,advisor\n",
  );
  assertStringIncludes(
    (await workspace.sig(`${PLAN} ${prune} --out $D/plan.json`)).stdout,
    "    reason_code       employment_ended\n",
  );
  const said = await workspace.says(`${SAVED} --yes`);
  assertStringIncludes(
    said.stdout,
    "Ends 1 relationship with the reason code employment_ended.\nAppended 2 events",
  );
  const [event] = (await workspace.events()).slice(-1);
  assertEquals(event.reason_code, "employment_ended");
  assertEquals(
    await workspace.read("acme/.sig/people.csv"),
    "subject,person,name\ndid:web:eve.example,7,Eve Roe\n",
  );
  assert(!(await workspace.read(FEED)).includes("Eve"));
  await workspace.refused(`${APPLY} --prune --yes`, [
    "--prune needs --reason-code, which is published",
    "--reason-code",
  ]);
});

test("a list of people without keys is no error, and has no changes", async (workspace) => {
  await list(workspace, "person,name,type,roles\n7,Eve Roe,advisor,ship\n");
  const plan = await workspace.json(PLAN);
  assertEquals([plan.changes, plan.waiting], [
    [],
    [{ person: "7", name: "Eve Roe", row: 2 }],
  ]);
  await workspace.says(PLAN, { out: "Waits for a key: Eve Roe (row 2).\n" });
  await workspace.says(`${APPLY} --yes`, { out: NOTHING });
});

test("plan shows the names of a list, and only apply saves them", async (workspace) => {
  await list(
    workspace,
    "Name,Subject,Type\nEve Roe,did:web:eve.example,advisor\nAl,did:web:alice.example,employee\n",
  );
  const file = "acme/.sig/people.csv";
  const before = "subject,name\ndid:web:alice.example,Alice\n";
  await workspace.write(file, before);
  const planned = await workspace.sig(PLAN);
  assertStringIncludes(planned.stdout, "Eve Roe  did:web:eve.example");
  assertEquals(await workspace.read(file), before);
  const applied = await workspace.says(`${APPLY} --yes`);
  // A name that the operator wrote is kept.
  assertStringIncludes(
    applied.stderr,
    "people.csv has another person or name for did:web:alice.example, and keeps it",
  );
  const after = `${before}did:web:eve.example,Eve Roe\n`;
  assertEquals(await workspace.read(file), after);
  assert(!(await workspace.read(FEED)).includes("Eve"));
  // A known name is not added again.
  await workspace.json(`${APPLY} --yes`);
  assertEquals(await workspace.read(file), after);
});

test("a new type in the list is one change, which revokes the old relationship and appends a new one", async (workspace) => {
  await list(workspace, "subject,type\ndid:web:alice.example,advisor\n");
  const { stdout } = await workspace.sig(PLAN);
  for (
    const part of [
      "~ change  did:web:alice.example  advisor  r1  (row 2)",
      "employee → advisor",
      "1 to change; 0 as they are.",
    ]
  ) assertStringIncludes(stdout, part);
  const { applied, events } = await workspace.json(`${APPLY} --yes`);
  assertEquals(
    [applied, ...events.map(({ action }: { action: string }) => action)],
    [2, "update", "update"],
  );
  assertEquals(
    (await workspace.events()).slice(-2)
      .map((each) => [each.event_type, each.reason_code, each.roles]),
    [
      ["relationship.revoke", "superseded", undefined],
      ["relationship.upsert", undefined, ["deploy", "review"]],
    ],
  );
  await workspace.ok(PLAN);
});
