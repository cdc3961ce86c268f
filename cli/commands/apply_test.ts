import { FEED } from "../testdata/cases.ts";
import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  type Given,
  withIssuer,
  type Workspace,
} from "../testdata/workspace.ts";

const HEADER = "subject,type,roles,valid_until,title\n";
const ALICE = "did:web:alice.example,employee,deploy;review,,\n";

async function list(workspace: Workspace, text: string): Promise<void> {
  await Deno.writeTextFile(workspace.path("people.csv"), text);
}

/** `sig <command> --dir $D/acme --from $D/people.csv …` */
function run(
  workspace: Workspace,
  command: "plan" | "apply",
  words: readonly string[] = [],
  given?: Given,
) {
  const source = words.includes("--plan") ? [] : ["--from", "$D/people.csv"];
  return workspace.sig(
    [command, "--dir", "$D/acme", ...source, ...words],
    given,
  );
}

async function log(workspace: Workspace): Promise<readonly string[]> {
  const { stdout } = await workspace.sig(["log", "$D/acme"]);
  return stdout.trimEnd().split("\n");
}

Deno.test("plan exits 0 when there is nothing to do, 1 when there is, and writes nothing", () =>
  withIssuer(async (workspace) => {
    await list(workspace, HEADER + ALICE);
    const before = await workspace.snapshot();
    const same = await run(workspace, "plan");
    assertEquals([same.code, same.stdout], [
      0,
      "Nothing to do; 1 as they are.\n",
    ]);
    await list(workspace, HEADER + ALICE.replace("review", "refund"));
    const drift = await run(workspace, "plan");
    assertEquals(drift.code, 1);
    assertStringIncludes(drift.stdout, "deploy, review → deploy, refund");
    await Deno.remove(workspace.path("people.csv"));
    const after = await workspace.snapshot();
    assertEquals(
      after,
      new Map([...before].filter(([path]) => !path.endsWith("people.csv"))),
    );
  }));

Deno.test("plan as JSON has the members that scripts rely on", () =>
  withIssuer(async (workspace) => {
    await list(workspace, HEADER + "did:web:eve.example,advisor,,,\n");
    const { stdout } = await run(workspace, "plan", ["--format", "json"]);
    const { based_on, ...plan } = JSON.parse(stdout);
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
          relationship_type: "advisor",
          roles: [],
          valid_from: null,
          valid_until: null,
          title: null,
          department: null,
          label: null,
          metadata: null,
        },
        fields: ["relationship_type"],
        row: 2,
      }],
      unchanged: 0,
      unmanaged: 1,
    });
  }));

Deno.test("apply needs --yes where nobody can be asked, and writes nothing without", () =>
  withIssuer(async (workspace) => {
    await list(workspace, HEADER + ALICE + "did:web:eve.example,advisor,,,\n");
    const before = await log(workspace);
    const { code, stdout, stderr } = await run(workspace, "apply");
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, "confirmation_required");
    assertStringIncludes(stderr, "--yes");
    assertEquals(await log(workspace), before);
  }));

Deno.test("apply asks on a terminal, after it showed the plan", () =>
  withIssuer(async (workspace) => {
    await list(workspace, HEADER + "did:web:eve.example,advisor,,,\n");
    await Deno.writeTextFile(
      workspace.path("acme/.sig/names.csv"),
      "subject,name\ndid:web:eve.example,Eve Roe\n",
    );
    const asked: string[] = [];
    const given = (answer: boolean): Given => ({
      terminals: ["stdin", "stdout"],
      env: { NO_COLOR: "1" },
      io: { ask: (text) => (asked.push(text), answer) },
    });
    const no = await run(workspace, "apply", [], given(false));
    assertEquals(no.code, 2);
    assertStringIncludes(
      no.stdout,
      "+ add  Eve Roe  did:web:eve.example  advisor",
    );
    const yes = await run(workspace, "apply", [], given(true));
    assertEquals(yes.code, 0);
    assertStringIncludes(yes.stdout, "Appended 1 event (seq=4)");
    assertEquals(asked.length, 2);
    // Nobody types where the list comes from: no question, and no plan for one.
    await list(workspace, HEADER + "did:web:joe.example,advisor,,,\n");
    const piped = await run(workspace, "apply", [], {
      ...given(true),
      terminals: ["stdout"],
    });
    assertEquals([piped.code, piped.stdout], [2, ""]);
    assertStringIncludes(piped.stderr, "confirmation_required");
    assertEquals(asked.length, 2);
  }));

Deno.test("apply done twice does nothing the second time", () =>
  withIssuer(async (workspace) => {
    await list(workspace, HEADER + ALICE + "did:web:eve.example,advisor,,,\n");
    const words = ["--yes", "--format", "json"];
    const first = JSON.parse((await run(workspace, "apply", words)).stdout);
    assertEquals(first.applied, 1);
    assertEquals([first.first_sequence, first.last_sequence], [4, 4]);
    assertEquals(first.events[0].action, "create");
    const again = await run(workspace, "apply", words);
    assertEquals([again.code, JSON.parse(again.stdout)], [0, {
      applied: 0,
      first_sequence: null,
      last_sequence: null,
      events: [],
    }]);
  }));

Deno.test("a saved plan is applied once, is 0 when all of it holds, and is refused when the feed went on", () =>
  withIssuer(async (workspace) => {
    await list(workspace, HEADER + ALICE.replace("review", "refund"));
    await run(workspace, "plan", ["--out", "$D/plan.json"]);
    const words = ["--plan", "$D/plan.json", "--yes"];
    assertEquals((await run(workspace, "apply", words)).code, 0);
    const again = await run(workspace, "apply", words);
    assertEquals([again.code, again.stdout], [
      0,
      "Nothing to do: the feed already says all of this.\n",
    ]);
    await workspace.sig([
      ...["revoke", "--dir", "$D/acme", "--relationship-id", "r1"],
      ...["--reason-code", "other"],
    ]);
    const late = await run(workspace, "apply", words);
    assertEquals(late.code, 2);
    assertStringIncludes(
      late.stderr,
      "plan_outdated: Cannot apply plan: the feed ends at sequence 5",
    );
  }));

Deno.test("a plan that was changed by hand is compared with the feed, and a foreign one refused", () =>
  withIssuer(async (workspace) => {
    await list(workspace, HEADER + ALICE.replace("review", "refund"));
    await run(workspace, "plan", ["--out", "$D/plan.json"]);
    const plan = JSON.parse(
      await Deno.readTextFile(workspace.path("plan.json")),
    );
    const tries = [
      ["issuer_mismatch", { ...plan, issuer: "did:web:other.example" }],
      ["plan_outdated", {
        ...plan,
        changes: [{ ...plan.changes[0], subject: "did:web:eve.example" }],
      }],
      ["plan_outdated", {
        ...plan,
        changes: [{
          ...plan.changes[0],
          before: { ...plan.changes[0].before, roles: [] },
        }],
      }],
      ["invalid_request", { ...plan, changes: [{ action: "create" }] }],
      ["invalid_request", []],
    ] as const;
    for (const [code, value] of tries) {
      await Deno.writeTextFile(
        workspace.path("forged.json"),
        JSON.stringify(value),
      );
      const ran = await run(workspace, "apply", [
        ...["--plan", "$D/forged.json", "--yes"],
      ]);
      assertEquals(ran.code, 2);
      assertStringIncludes(ran.stderr, code);
    }
    assertEquals((await log(workspace)).length, 3);
  }));

Deno.test("an ended relationship denies every check, and a mass ending needs its number", () =>
  withIssuer(async (workspace) => {
    const people = Array.from(
      { length: 8 },
      (_, at) => `did:web:p${at}.example,advisor,x,,\n`,
    );
    await list(workspace, HEADER + ALICE + people.join(""));
    const all = ["--yes", "--confirm-grants", "8"];
    assertEquals((await run(workspace, "apply", all)).code, 0);
    await list(workspace, HEADER + ALICE);
    const words = ["--prune", "--yes", "--reason-code", "contract_ended"];
    const refused = await run(workspace, "apply", words);
    assertEquals(refused.code, 2);
    assertStringIncludes(
      refused.stderr,
      "confirmation_required: Cannot apply plan: 8 of 9 people would lose access",
    );
    const done = await run(workspace, "apply", [
      ...words,
      ...["--confirm-revocations", "8"],
    ]);
    assertEquals([done.code, done.stderr], [0, ""]);
    const { code } = await workspace.sig([
      ...["check", "--sig", "$D/acme", "--subject", "did:web:p3.example"],
      ...["--require", "relationship=advisor"],
    ]);
    assertEquals(code, 1);
  }));

Deno.test("a faulty row leaves nothing behind, and a name without a format is asked for", () =>
  withIssuer(async (workspace) => {
    await list(workspace, HEADER + ALICE + "bob,advisor,,03/04/2026,\n");
    const before = await log(workspace);
    const faulty = await run(workspace, "apply", ["--yes"]);
    assertEquals(faulty.code, 2);
    assertStringIncludes(faulty.stderr, "row 3, column subject");
    assertStringIncludes(faulty.stderr, "row 3, column valid_until");
    assertEquals(await log(workspace), before);
    const stdin = await workspace.sig(
      ["plan", "--dir", "$D/acme", "--from", "-"],
      { stdin: HEADER + ALICE },
    );
    assertStringIncludes(stdin.stderr, "--input is required");
    const told = await workspace.sig(
      ["plan", "--dir", "$D/acme", "--from", "-", "--input", "csv"],
      { stdin: HEADER + ALICE },
    );
    assertEquals(told.code, 0);
  }));

Deno.test("a fault that many rows share is reported once, with their numbers", () =>
  withIssuer(async (workspace) => {
    const rows = [1, 2, 3, 4].map((n) =>
      `did:web:p${n}.example,advisor,,${n === 3 ? "" : "03/04/2026"},\n`
    );
    await list(workspace, HEADER + rows.join("") + "short,row\n");
    const { code, stderr } = await run(workspace, "plan");
    assertEquals(code, 2);
    assertEquals(stderr.match(/is ambiguous/g)?.length, 1);
    assertStringIncludes(
      stderr,
      "  invalid_field rows 2 to 3, 5, column valid_until: it is ambiguous",
    );
    assertStringIncludes(stderr, "  invalid_field row 6: it has 2 cells");
    const json = await run(workspace, "plan", ["--format", "json"]);
    assertEquals(JSON.parse(json.stderr).errors.length, 4);
  }));

Deno.test("a saved plan can't hide what it does from the operator", () =>
  withIssuer(async (workspace) => {
    await list(
      workspace,
      "subject,type,title\n" + "did:web:alice.example,employee,Boss\n",
    );
    await run(workspace, "plan", ["--out", "$D/plan.json"]);
    const plan = JSON.parse(
      await Deno.readTextFile(workspace.path("plan.json")),
    );
    const [change] = plan.changes;
    assertEquals(change.fields, ["title"]);
    change.after.roles.push("admin");
    const asked: string[] = [];
    for (const fields of [["title"], [], undefined, ["\u001b[2J"]]) {
      change.fields = fields;
      await Deno.writeTextFile(
        workspace.path("plan.json"),
        JSON.stringify(plan),
      );
      const { code, stdout, stderr } = await run(
        workspace,
        "apply",
        ["--plan", "$D/plan.json"],
        {
          terminals: ["stdin", "stdout"],
          io: { ask: (question) => asked.push(question) < 0 },
        },
      );
      assertEquals(code, 2);
      assertStringIncludes(
        stderr,
        "confirmation_required: Cannot apply plan: 1 change not confirmed",
      );
      assertStringIncludes(stdout, "deploy, review → deploy, review, admin");
      assertStringIncludes(stdout, "none → Boss");
    }
    assertEquals(asked.length, 4);
  }));

Deno.test("apply keeps the reason, which no list shows", () =>
  withIssuer(async (workspace) => {
    await workspace.sig([
      ...["upsert", "--dir", "$D/acme", "--subject", "did:web:carol.example"],
      ...["--type", "employee", "--reason", "ticket 7"],
    ]);
    await list(
      workspace,
      "subject,type,title\ndid:web:carol.example,employee,Boss\n",
    );
    await run(workspace, "apply", ["--yes"]);
    const { stdout } = await workspace.sig([
      "log",
      "$D/acme",
      "--format",
      "json",
    ]);
    const last = JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
    assertEquals([last.display, last.reason], [{ title: "Boss" }, "ticket 7"]);
  }));

/** 60 people and 600 whose relationships have expired, who count for nothing. */
async function withSixty(
  work: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  await withIssuer(async (workspace) => {
    const draft = (name: string, more: object) =>
      JSON.stringify({
        event_type: "relationship.upsert",
        subject: `did:web:${name}.example`,
        relationship_type: "employee",
        roles: ["deploy"],
        ...more,
      });
    const drafts = [
      ...SIXTY.map((name) => draft(name, {})),
      ...Array.from(
        { length: 600 },
        (_, n) => draft(`old${n}`, { valid_until: "2025-12-01T00:00:00Z" }),
      ),
    ];
    const words = ["import", "--dir", "$D/acme", "-"];
    const done = await workspace.sig(words, { stdin: drafts.join("\n") });
    assertEquals(done.code, 0);
    await work(workspace);
  });
}

const SIXTY = Array.from({ length: 60 }, (_, n) => `p${n}`);

for (
  const [what, header, cells] of [
    ["a start in 2062", "subject,type,valid_from", "employee,2062-01-01"],
    [
      "an end that has passed",
      "subject,type,valid_until",
      "employee,2025-12-30",
    ],
    ["an empty roles column", "subject,type,roles", "employee,"],
  ] as const
) {
  Deno.test(`apply: ${what} takes nothing from 60 people with --yes alone`, () =>
    withSixty(async (workspace) => {
      const rows = SIXTY.map((name) => `did:web:${name}.example,${cells}\n`);
      await list(workspace, `${header}\n${rows.join("")}`);
      const before = await log(workspace);
      const refused = await run(workspace, "apply", ["--yes"]);
      assertEquals([refused.code, refused.stdout], [2, ""]);
      assertStringIncludes(
        refused.stderr,
        "confirmation_required: Cannot apply plan: 60 of 61 people would lose access",
      );
      assertStringIncludes(refused.stderr, "add --confirm-losses 60");
      assertEquals(await log(workspace), before);
      const words = ["--yes", "--confirm-losses", "60"];
      assertEquals((await run(workspace, "apply", words)).code, 0);
    }));
}

Deno.test("apply: another type takes from and gives to 60 people, also by a saved plan", () =>
  withSixty(async (workspace) => {
    const { stdout } = await workspace.sig([
      ...["who", "$D/acme", "--role", "deploy", "--format", "json"],
    ]);
    const held: readonly { subject: string; relationship_id: string }[] = JSON
      .parse(stdout);
    const rows = held.filter(({ subject }) => !subject.includes("alice"))
      .map(({ subject, relationship_id }) =>
        `${subject},contractor,${relationship_id}\n`
      );
    await list(workspace, `subject,type,relationship_id\n${rows.join("")}`);
    await run(workspace, "plan", ["--out", "$D/plan.json"]);
    // What a file says of itself is not believed.
    const saved = JSON.parse(
      await Deno.readTextFile(workspace.path("plan.json")),
    );
    for (const change of saved.changes) change.action = "update";
    await Deno.writeTextFile(
      workspace.path("plan.json"),
      JSON.stringify({ ...saved, unchanged: 600 }),
    );
    const words = ["--plan", "$D/plan.json", "--yes"];
    const { code, stderr } = await run(workspace, "apply", words);
    assertEquals(code, 2);
    assertStringIncludes(
      stderr,
      "add --confirm-losses 60 --confirm-grants 60",
    );
  }));

Deno.test("apply: the wrong file publishes nobody with --yes alone, and fills an empty feed", () =>
  withIssuer(async (workspace) => {
    const rows = Array.from(
      { length: 500 },
      (_, n) => `did:web:wrong${n}.example,other,,,\n`,
    );
    await list(workspace, HEADER + rows.join(""));
    const { code, stderr } = await run(workspace, "apply", ["--yes"]);
    assertEquals(code, 2);
    assertStringIncludes(
      stderr,
      "confirmation_required: Cannot apply plan: 500 people would gain access, 1 have it now",
    );
    assertStringIncludes(stderr, "add --confirm-grants 500");
    assertEquals((await log(workspace)).length, 3);
    await workspace.sig(["init", "new.example", "--dir", "$D/new"]);
    const first = await workspace.sig([
      ...["apply", "--dir", "$D/new", "--from", "$D/people.csv", "--yes"],
    ]);
    assertEquals(first.code, 0);
  }));

Deno.test("apply: an offboarded person who is still on the list is not re-admitted without --readmit", () =>
  withIssuer(async (workspace) => {
    const bob = "did:web:bob.example";
    for (
      const row of [`${bob},contractor,,,\n`, `${bob},contractor,x,,\n`]
    ) {
      await list(workspace, HEADER + ALICE + row);
      const planned = await run(workspace, "plan");
      assertEquals(planned.code, 1);
      assertStringIncludes(
        planned.stdout,
        "    was revoked       2026-01-01T00:00:04Z, contract_ended (r2, seq=3); needs --readmit\n",
      );
      const nightly = await run(workspace, "apply", ["--yes"]);
      assertEquals([nightly.code, nightly.stdout], [2, ""]);
      assertStringIncludes(
        nightly.stderr,
        `confirmation_required: Cannot apply plan: 1 revoked relationship would be re-admitted, such as that of "${bob}" (contract_ended, 2026-01-01T`,
      );
    }
    assertEquals((await log(workspace)).length, 3);
    await run(workspace, "plan", ["--out", "$D/plan.json"]);
    const text = await Deno.readTextFile(workspace.path("plan.json"));
    assertEquals(
      JSON.parse(text).changes[0].readmits.reason_code,
      "contract_ended",
    );
    const { readmits: _, ...hidden } = JSON.parse(text).changes[0];
    await Deno.writeTextFile(
      workspace.path("plan.json"),
      JSON.stringify({ ...JSON.parse(text), changes: [hidden] }),
    );
    const words = ["--plan", "$D/plan.json", "--yes"];
    assertEquals((await run(workspace, "apply", words)).code, 2);
    const meant = await run(workspace, "apply", [...words, "--readmit"]);
    assertEquals([meant.code, meant.stdout], [0, "Appended 1 event (seq=4)\n"]);
  }));

Deno.test("apply: a list with 60 revoked identifiers brings nobody back", () =>
  withSixty(async (workspace) => {
    const { stdout } = await workspace.sig([
      ...["who", "$D/acme", "--role", "deploy", "--format", "json"],
    ]);
    const held: readonly { subject: string; relationship_id: string }[] = JSON
      .parse(stdout);
    const others = held.filter(({ subject }) => !subject.includes("alice"));
    const drafts = others.map(({ relationship_id }) =>
      JSON.stringify({
        event_type: "relationship.revoke",
        relationship_id,
        reason_code: "employment_ended",
      })
    );
    await workspace.sig(["import", "--dir", "$D/acme", "-"], {
      stdin: drafts.join("\n"),
    });
    const rows = others.map(({ subject, relationship_id }) =>
      `${subject},employee,${relationship_id}\n`
    );
    await list(workspace, `subject,type,relationship_id\n${rows.join("")}`);
    const { code, stderr } = await run(workspace, "apply", ["--yes"]);
    assertEquals(code, 2);
    assertStringIncludes(stderr, "add --confirm-grants 60 --readmit");
  }));

Deno.test("apply --from plans again when somebody appends meanwhile, and asks again only about another plan", () =>
  withIssuer(async (workspace) => {
    await list(workspace, HEADER + ALICE + "did:web:eve.example,advisor,,,\n");
    const terminal = (other: readonly string[]): Given => ({
      terminals: ["stdin", "stdout"],
      io: {
        ask: async () => {
          asked++;
          if (asked === 1) {
            assertEquals((await workspace.sig(other)).code, 0);
          }
          return true;
        },
      },
    });
    let asked = 0;
    const unrelated = [
      ...["upsert", "--dir", "$D/acme", "--subject", "did:web:joe.example"],
      ...["--type", "advisor"],
    ];
    const same = await run(workspace, "apply", [], terminal(unrelated));
    assertEquals([same.code, same.stderr, asked], [0, "", 1]);
    assertStringIncludes(same.stdout, "Appended 1 event (seq=5)");
    await list(workspace, HEADER + ALICE.replace("review", "refund"));
    asked = 0;
    const changed = await run(
      workspace,
      "apply",
      [],
      terminal([
        ...["set", "--dir", "$D/acme", "--relationship-id", "r1"],
        ...["--title", "Boss"],
      ]),
    );
    assertEquals([changed.code, changed.stderr, asked], [0, "", 2]);
    assertStringIncludes(changed.stdout, "Boss → none");
  }));

Deno.test("a role that looks like several is warned of, with its row, once", () =>
  withIssuer(async (workspace) => {
    await list(
      workspace,
      HEADER + 'did:web:eve.example,advisor,"deploy,review",,\n' +
        'did:web:fay.example,advisor,"deploy,review",,\n',
    );
    const says =
      'warning: row 2: "deploy,review" is one role with a comma in it; several are separated by ; in CSV, and are items of a list elsewhere\n';
    const planned = await run(workspace, "plan");
    assertEquals([planned.code, planned.stderr], [1, says]);
    let asked = "";
    const declined = await run(workspace, "apply", [], {
      terminals: ["stdin", "stdout"],
      io: {
        stdout: (text) => void (asked += text),
        stderr: (text) => void (asked += text),
        ask: (question) => {
          asked += question;
          return Promise.resolve(false);
        },
      },
    });
    assertEquals(declined.code, 2);
    assertStringIncludes(asked, ` not in the list.\n${says}Append this?`);
    const applied = await run(workspace, "apply", ["--yes"]);
    assertEquals([applied.code, applied.stderr], [0, says]);
    const again = await run(workspace, "plan");
    assertEquals([again.code, again.stderr], [0, ""]);
    const upsert = await workspace.sig([
      ...["upsert", "--dir", "$D/acme", "--subject", "did:web:gus.example"],
      ...["--type", "advisor", "--role", "deploy;review"],
    ]);
    assertEquals([upsert.code, upsert.stderr], [
      0,
      'warning: "deploy;review" is one role with a semicolon in it; several are given as --role A --role B\n',
    ]);
  }));

Deno.test("a list that is no JSON says where", () =>
  withIssuer(async (workspace) => {
    const words = ["plan", "--dir", "$D/acme", "--from", "-"];
    const { code, stderr } = await workspace.sig(
      [...words, "--input", "json"],
      { stdin: '[{"subject":1,"subject":2}]' },
    );
    assertEquals(code, 2);
    assertStringIncludes(stderr, "invalid_json: Cannot read list: /0");
    const broken = await workspace.sig(
      [...words, "--input", "json"],
      { stdin: "[{" },
    );
    assertStringIncludes(broken.stderr, "Cannot read list: syntax error at");
  }));

Deno.test("names of a list are shown by plan, and saved by apply alone", () =>
  withIssuer(async (workspace) => {
    await list(
      workspace,
      "Name,Subject,Type\nEve Roe,did:web:eve.example,advisor\nAl,did:web:alice.example,employee\n",
    );
    const file = workspace.path("acme/.sig/names.csv");
    await Deno.writeTextFile(
      file,
      "subject,name\ndid:web:alice.example,Alice\n",
    );
    const planned = await run(workspace, "plan");
    assertStringIncludes(planned.stdout, "Eve Roe  did:web:eve.example");
    const text = await Deno.readTextFile(file);
    assertEquals(text.split("\n").length, 3);
    const applied = await run(workspace, "apply", ["--yes"]);
    assertEquals(applied.code, 0);
    // What the operator wrote stays.
    assertStringIncludes(
      applied.stderr,
      'it has another name for this subject, Alice; you can add "did:web:alice.example","Al" to',
    );
    assertEquals(
      await Deno.readTextFile(file),
      `${text}"did:web:eve.example","Eve Roe"\n`,
    );
    assertEquals(
      (await Deno.readTextFile(workspace.path(FEED))).includes("Eve"),
      false,
    );
    // What is known by then is not added again.
    const again = await run(workspace, "apply", ["--yes", "--format", "json"]);
    assertEquals([again.code, again.stderr], [0, ""]);
    assertEquals((await Deno.readTextFile(file)).split("\n").length, 4);
  }));

Deno.test("a person who moves is one change: the old relationship ends, the new one begins", () =>
  withIssuer(async (workspace) => {
    await list(workspace, "subject,type\ndid:web:alice.example,advisor\n");
    const planned = await run(workspace, "plan");
    assertStringIncludes(
      planned.stdout,
      "~ change  did:web:alice.example  advisor  r1  (row 2)",
    );
    assertStringIncludes(planned.stdout, "employee → advisor");
    assertStringIncludes(planned.stdout, "1 to change; 0 as they are.");
    const { stdout } = await run(workspace, "apply", [
      ...["--yes", "--format", "json"],
    ]);
    const { applied, events } = JSON.parse(stdout);
    assertEquals(applied, 2);
    assertEquals(
      events.map(({ action }: { action: string }) => action),
      ["update", "update"],
    );
    const text = await Deno.readTextFile(workspace.path(FEED));
    const last = text.trim().split("\n").slice(-2).map((line) => {
      const { payload } = JSON.parse(line);
      return JSON.parse(new TextDecoder().decode(
        Uint8Array.fromBase64(payload, { alphabet: "base64url" }),
      ));
    });
    assertEquals(
      last.map((each) => [each.event_type, each.reason_code, each.roles]),
      [
        ["relationship.revoke", "superseded", undefined],
        ["relationship.upsert", undefined, ["deploy", "review"]],
      ],
    );
    assertEquals((await run(workspace, "plan")).code, 0);
  }));
