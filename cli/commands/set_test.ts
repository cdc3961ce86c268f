import { DatabaseSync } from "node:sqlite";
import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  type Given,
  withIssuer,
  type Workspace,
} from "../testdata/workspace.ts";

const ALICE = "did:web:alice.example";

/** `sig <command> --dir $D/acme …` */
function run(
  workspace: Workspace,
  command: string,
  words: string,
  given?: Given,
) {
  return workspace.sig(
    [command, "--dir", "$D/acme", ...words.split(" ")],
    given,
  );
}

async function lastEvent(workspace: Workspace) {
  const { stdout } = await workspace.sig(
    ["log", "$D/acme", "--format", "json"],
  );
  return JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
}

Deno.test("set keeps everything that is not named", () =>
  withIssuer(async (workspace) => {
    await run(
      workspace,
      "upsert",
      `--subject ${ALICE} --type employee --relationship-id r1 --role deploy --valid-until 2027-01-01T00:00:00Z --title CTO --department Ops --visibility public --reason ticket-7 --metadata {"badge":7}`,
    );
    const { code, stdout, stderr } = await run(
      workspace,
      "set",
      `--subject ${ALICE} --add-role review`,
    );
    assertEquals([code, stderr], [0, ""]);
    assertStringIncludes(stdout, "deploy → deploy, review");
    assertStringIncludes(stdout, "Appended 1 event (seq=5)");
    const event = await lastEvent(workspace);
    assertEquals(event.roles, ["deploy", "review"]);
    assertEquals(event.valid_until, "2027-01-01T00:00:00Z");
    assertEquals(event.display, { title: "CTO", department: "Ops" });
    assertEquals(event.metadata, { badge: 7 });
    assertEquals(event.reason, "ticket-7");
  }));

Deno.test("set takes bare dates as lists do, none takes a date away, and an empty change appends nothing", () =>
  withIssuer(async (workspace) => {
    const set = (words: string) =>
      run(workspace, "set", `--relationship-id r1 ${words}`);
    await set("--valid-from 2026-02-01 --valid-until 2027-06-30 --label x");
    const dated = await lastEvent(workspace);
    assertEquals(
      [dated.valid_from, dated.valid_until],
      ["2026-02-01T00:00:00Z", "2027-07-01T00:00:00Z"],
    );
    await set("--valid-until none --label none --role lead");
    const event = await lastEvent(workspace);
    assertEquals(
      [event.valid_from, event.valid_until, event.roles, event.display ?? null],
      ["2026-02-01T00:00:00Z", null, ["lead"], null],
    );
    const same = await set("--role lead");
    assertEquals([same.code, same.stdout], [
      0,
      "Nothing to do: the feed already says all of this.\n",
    ]);
    assertEquals((await lastEvent(workspace)).sequence, event.sequence);
  }));

Deno.test("set refuses what is ambiguous, unknown, revoked or misspelt, and writes nothing", () =>
  withIssuer(async (workspace) => {
    await run(
      workspace,
      "upsert",
      `--subject ${ALICE} --type employee --relationship-id r9`,
    );
    const before = await workspace.snapshot();
    const tries = [
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
      [
        "--relationship-id r1 --remove-role deplyo",
        "Did you mean deploy?",
      ],
      ["--relationship-id r1", "no change was given"],
      ["--role x", "--relationship-id or --subject is required"],
      [
        "--relationship-id r1 --role x --add-role y",
        "--role replaces all roles",
      ],
      [
        "--relationship-id r1 --valid-until 03/04/2027",
        "it is ambiguous",
      ],
      [
        "--relationship-id r1 --valid-until 2020-01-01 --valid-from 2021-01-01",
        "valid_until",
      ],
    ] as const;
    for (const [words, expected] of tries) {
      const { code, stdout, stderr } = await run(workspace, "set", words);
      assertEquals([code, stdout], [2, ""], words);
      assertStringIncludes(stderr, expected);
    }
    assertEquals(await workspace.snapshot(), before);
  }));

Deno.test("set asks about a doubt once, also when somebody appends meanwhile, and about what is new", () =>
  withIssuer(async (workspace) => {
    const asked: string[] = [];
    const given = (meanwhile: () => Promise<unknown>) => ({
      terminals: ["stdin", "stdout"] as const,
      io: {
        ask: async (question: string) => {
          if (asked.push(question) === 1) await meanwhile();
          return true;
        },
      },
    });
    const add = (role: string) => `--relationship-id r1 --add-role ${role}`;
    const first = await run(
      workspace,
      "set",
      add("a,b"),
      given(() =>
        run(workspace, "upsert", "--subject did:web:eve.example --type advisor")
      ),
    );
    assertEquals([first.code, first.stderr, asked.length], [0, "", 1]);
    asked.length = 0;
    const second = await run(
      workspace,
      "set",
      add("c,d"),
      given(() =>
        run(workspace, "set", "--relationship-id r1 --valid-until 2020-01-01")
      ),
    );
    assertEquals([second.code, second.stderr], [0, ""]);
    assertEquals(asked.map((question) => question.split(/[;,:]/, 1)[0]), [
      '"c',
      "it already ended",
    ]);
    const { roles, valid_until } = await lastEvent(workspace);
    assertEquals(roles, ["a,b", "c,d", "deploy", "review"]);
    assertEquals(valid_until, "2020-01-02T00:00:00Z");
  }));

Deno.test("set --role none is refused with a hint, and --no-roles takes all roles away", () =>
  withIssuer(async (workspace) => {
    const before = await workspace.snapshot();
    for (const flag of ["role", "add-role"]) {
      const { code, stdout, stderr } = await run(
        workspace,
        "set",
        `--relationship-id r1 --${flag} none`,
      );
      assertEquals([code, stdout], [2, ""]);
      assertEquals(
        stderr,
        `error: invalid_request: Cannot run: --${flag} none would grant a role named "none" (at flag --${flag})\n` +
          "  hint: --no-roles takes all roles away.\n",
      );
    }
    for (const flag of ["role", "add-role", "remove-role"]) {
      const { code, stderr } = await run(
        workspace,
        "set",
        `--relationship-id r1 --no-roles --${flag} x`,
      );
      assertEquals(code, 2);
      assertStringIncludes(
        stderr,
        `--no-roles and --${flag} contradict each other`,
      );
    }
    assertEquals(await workspace.snapshot(), before);
    const done = await run(workspace, "set", "--relationship-id r1 --no-roles");
    assertEquals([done.code, done.stderr], [0, ""]);
    assertEquals((await lastEvent(workspace)).roles, []);
  }));

Deno.test("plan, apply and set say that every check denies whose relationship has expired", () =>
  withIssuer(async (workspace) => {
    const end = "2025-12-01T00:00:00Z";
    const zoe = "did:web:zoe.example";
    await run(
      workspace,
      "upsert",
      `--subject ${zoe} --type employee --valid-until ${end} --relationship-id z`,
    );
    await Deno.writeTextFile(
      workspace.path("people.csv"),
      `subject,type\n${ALICE},employee\n${zoe},employee\n`,
    );
    const says =
      `warning: row 3: the relationship of ${zoe} expired at ${end}: every check denies it\n`;
    for (
      const [command, yes] of [["plan", []], ["apply", ["--yes"]]] as const
    ) {
      const words = ["--dir", "$D/acme", "--from", "$D/people.csv", ...yes];
      const ran = await workspace.sig([command, ...words]);
      assertEquals([ran.code, ran.stderr], [0, says]);
    }
    const json = await workspace.sig([
      ...["plan", "--dir", "$D/acme", "--from", "$D/people.csv"],
      ...["--format", "json"],
    ]);
    assertEquals(JSON.parse(json.stdout).expired, [
      { relationship_id: "z", subject: zoe, valid_until: end, row: 3 },
    ]);
    const changed = await run(
      workspace,
      "set",
      `--subject ${zoe} --add-role x`,
    );
    assertEquals([changed.code, changed.stderr], [
      0,
      `warning: it already ended, at ${end}: every check will deny it\n`,
    ]);
    // A change that leaves the end where it is, and one that changes nothing.
    const same = await run(workspace, "set", `--subject ${zoe} --add-role x`);
    assertEquals([same.code, same.stderr], [0, changed.stderr]);
    await Deno.writeTextFile(
      workspace.path("people.csv"),
      `subject,type,title\n${zoe},employee,Boss\n`,
    );
    const planned = await workspace.sig([
      ...["plan", "--dir", "$D/acme", "--from", "$D/people.csv"],
    ]);
    assertEquals([planned.code, planned.stderr], [
      1,
      says.replace("row 3", "row 2"),
    ]);
  }));

Deno.test("a name that differs from a published one in case or in what is not visible is doubted", () =>
  withIssuer(async (workspace) => {
    const bob = "did:web:bob.example";
    const doubtful: readonly (readonly [string[], string])[] = [
      [
        ["--subject", "did:web:Alice.example"],
        'the subject "did:web:Alice.example" differs from "did:web:alice.example" in case or in characters that are not visible; checks compare exactly',
      ],
      [
        ["--subject", bob, "--role", "Review"],
        'the role "Review" differs from "review" in case or in characters that are not visible; checks compare exactly',
      ],
      [
        ["--subject", bob, "--role", "ad\u200bmin"],
        'the role "ad\\u200bmin" contains a character that is not visible',
      ],
      [
        ["--subject", bob, "--role", "none"],
        '"none" is a role of that name, not no role',
      ],
    ];
    const upsert = ["upsert", "--dir", "$D/acme", "--type", "advisor"];
    for (const [words, doubt] of doubtful) {
      const asked: string[] = [];
      const { code } = await workspace.sig([...upsert, ...words], {
        terminals: ["stdin", "stdout"],
        io: { ask: (text) => (asked.push(text), false) },
      });
      assertEquals([code, asked], [2, [`${doubt}. Append it all the same?`]]);
    }
    const rows = [
      `did:web:Alice.example,advisor,`,
      `${bob},advisor,Review;ad\u200bmin;none`,
      `did:web:eve.example,advisor,REVIEW`,
    ];
    await Deno.writeTextFile(
      workspace.path("people.csv"),
      `subject,type,roles\n${rows.join("\n")}\n`,
    );
    const planned = await workspace.sig([
      ...["plan", "--dir", "$D/acme", "--from", "$D/people.csv"],
    ]);
    assertEquals(planned.code, 1);
    assertEquals(planned.stderr.trimEnd().split("\n"), [
      `warning: row 2: ${doubtful[0]![1]}`,
      `warning: row 3: ${doubtful[1]![1]}`,
      `warning: row 3: ${doubtful[2]![1]}`,
      `warning: row 3: ${doubtful[3]![1]}`,
      `warning: row 4: ${doubtful[1]![1].replace("Review", "REVIEW")}`,
    ]);
    const json = await workspace.sig([
      ...["plan", "--dir", "$D/acme", "--from", "$D/people.csv"],
      ...["--format", "json"],
    ]);
    assertEquals(
      JSON.parse(json.stdout).doubts.map((doubt: string) =>
        `warning: ${doubt}`
      ),
      planned.stderr.trimEnd().split("\n"),
    );
    for (const [words] of doubtful) {
      assertEquals((await workspace.sig([...upsert, ...words])).code, 0);
    }
    const doctor = await workspace.sig([
      "doctor",
      "$D/acme",
      "--format",
      "json",
    ]);
    const { findings } = JSON.parse(doctor.stdout);
    assertEquals(
      findings.filter(({ code }: { code: string }) => code === "similar_names")
        .map(({ what }: { what: string }) => what),
      [
        'the subjects "did:web:Alice.example", "did:web:alice.example" look the same',
        'the roles "Review", "review" look the same',
        'one of the roles, "ad\\u200bmin", contains a character that is not visible',
      ],
    );
    // Names that are published already are not doubted.
    const again = await workspace.sig([
      ...upsert,
      ...["--subject", bob, "--role", "Review", "--role", "review"],
    ]);
    assertEquals(again.code, 0);
    assertEquals(again.stderr.includes("differs"), false);
  }));

Deno.test("offboard ends every active relationship in one batch, so that every check denies", () =>
  withIssuer(async (workspace) => {
    await run(workspace, "upsert", `--subject ${ALICE} --type advisor`);
    await run(
      workspace,
      "upsert",
      `--subject ${ALICE} --type employee --relationship-id r9`,
    );
    const done = await run(
      workspace,
      "offboard",
      `--subject ${ALICE} --reason-code employment_ended --yes --format json`,
    );
    assertEquals([done.code, done.stderr], [0, ""]);
    const report = JSON.parse(done.stdout);
    assertEquals(
      [report.applied, report.first_sequence, report.last_sequence],
      [3, 6, 8],
    );
    for (const type of ["employee", "advisor"]) {
      const { code } = await workspace.sig([
        ...["check", "--sig", "$D/acme", "--subject", ALICE],
        ...["--require", `relationship=${type}`],
      ]);
      assertEquals(code, 1);
    }
    const again = await run(
      workspace,
      "offboard",
      `--subject ${ALICE} --reason-code employment_ended --yes`,
    );
    assertEquals(again.code, 2);
    assertStringIncludes(
      again.stderr,
      `unknown_relationship: Cannot offboard: "${ALICE}" has no active relationship`,
    );
  }));

Deno.test("offboard shows each relationship, asks on a terminal, and needs --yes elsewhere", () =>
  withIssuer(async (workspace) => {
    await Deno.writeTextFile(
      workspace.path("acme/.sig/names.csv"),
      `subject,name\n${ALICE},Alice Doe\n`,
    );
    const words = `--subject ${ALICE} --reason-code employment_ended`;
    const refused =
      "confirmation_required: Cannot offboard: ending 1 relationship is not confirmed";
    for (const given of [{}, { terminals: ["stdout"] as const }]) {
      const { code, stdout, stderr } = await run(
        workspace,
        "offboard",
        words,
        given,
      );
      assertEquals([code, stdout], [2, ""]);
      assertStringIncludes(stderr, refused);
      assertStringIncludes(stderr, "It would end r1.");
    }
    const asked: string[] = [];
    const terminal = (answer: boolean) => ({
      terminals: ["stdin", "stdout"] as const,
      env: { NO_COLOR: "1" },
      io: { ask: (text: string) => (asked.push(text), answer) },
    });
    const shown = `- end  Alice Doe  ${ALICE}  employee  r1\n` +
      "    roles             deploy, review\n";
    const no = await run(workspace, "offboard", words, terminal(false));
    assertEquals([no.code, no.stdout], [2, shown]);
    assertStringIncludes(no.stderr, refused);
    assertEquals((await lastEvent(workspace)).sequence, 3);
    const yes = await run(workspace, "offboard", words, terminal(true));
    assertEquals(
      [yes.code, yes.stdout],
      [0, `${shown}Appended 1 event (seq=4)\n`],
    );
    assertEquals(asked, ["End 1 relationship?", "End 1 relationship?"]);
  }));

Deno.test("offboard asks again only when the person's relationships changed meanwhile", () =>
  withIssuer(async (workspace) => {
    const offboard = async (words: string, meanwhile: string) => {
      let asked = 0;
      const { code, stdout } = await run(workspace, "offboard", words, {
        terminals: ["stdin", "stdout"],
        io: {
          ask: async () => {
            if (++asked === 1) await run(workspace, "upsert", meanwhile);
            return true;
          },
        },
      });
      return [code, asked, stdout.match(/^Appended \d/m)?.[0]];
    };
    const words = `--subject ${ALICE} --reason-code other`;
    const second = `--subject ${ALICE} --type advisor`;
    assertEquals(await offboard(words, second), [0, 2, "Appended 2"]);
    await run(workspace, "upsert", second);
    const unrelated = "--subject did:web:eve.example --type advisor";
    assertEquals(await offboard(words, unrelated), [0, 1, "Appended 1"]);
  }));

Deno.test("an end that lies ahead is refused as a revocation, and named as what it is", () =>
  withIssuer(async (workspace) => {
    const { code, stderr } = await run(
      workspace,
      "offboard",
      `--subject ${ALICE} --reason-code employment_ended --yes --effective-at 2030-01-01T00:00:00Z`,
    );
    assertEquals(code, 2);
    assertStringIncludes(
      stderr,
      "invalid_field: Cannot append: effective_at is more than 60 s after issued_at",
    );
    assertStringIncludes(
      stderr,
      "An end that lies ahead is the valid_until of an upsert (sig set --valid-until).",
    );
    const ahead = await run(
      workspace,
      "set",
      `--subject ${ALICE} --valid-until 2030-01-01`,
    );
    assertEquals(ahead.code, 0, ahead.stderr);
  }));

Deno.test("offboard of one type leaves the others", () =>
  withIssuer(async (workspace) => {
    await run(
      workspace,
      "upsert",
      `--subject ${ALICE} --type advisor --relationship-id r9`,
    );
    const { stdout } = await run(
      workspace,
      "offboard",
      `--subject ${ALICE} --type advisor --reason-code other --yes`,
    );
    assertEquals(
      stdout,
      `- end  ${ALICE}  advisor  r9\n    roles             none\nAppended 1 event (seq=5)\n`,
    );
    assertEquals(
      (await run(workspace, "set", `--subject ${ALICE} --add-role x`)).code,
      0,
    );
  }));

Deno.test("upsert says what a replacement drops, and that there is another of that type", () =>
  withIssuer(async (workspace) => {
    const upsert = (words: string) =>
      run(workspace, "upsert", `--subject ${ALICE} --type employee ${words}`);
    await upsert(
      "--relationship-id r1 --role deploy --valid-until 2027-01-01T00:00:00Z --department Ops",
    );
    const replaced = await upsert("--relationship-id r1 --role review");
    assertStringIncludes(
      replaced.stderr,
      "this replaced r1 and dropped role deploy, valid_until 2027-01-01T00:00:00Z, department Ops",
    );
    const second = await upsert("--relationship-id r9 --event-id e9");
    assertStringIncludes(
      second.stderr,
      "another active relationship of this type (r1)",
    );
    const repeated = await upsert("--relationship-id r9 --event-id e9");
    assertEquals(
      [repeated.code, repeated.stdout, repeated.stderr],
      [
        0,
        "Appended relationship.upsert r9 (seq=6)\n",
        "warning: event e9 is already in the feed (seq=6); nothing was written\n",
      ],
    );
    const revoked = await run(
      workspace,
      "revoke",
      "--relationship-id r9 --reason-code other",
    );
    assertStringIncludes(
      revoked.stderr,
      "still has active relationships: r1 (employee, review)",
    );
    const json = await upsert("--relationship-id r7 --format json");
    assertEquals(json.stderr, "");
    assertEquals(JSON.parse(json.stdout).notices.length, 1);
  }));

Deno.test("upsert takes bare dates as lists and set do", () =>
  withIssuer(async (workspace) => {
    const upsert = (until: string) =>
      run(
        workspace,
        "upsert",
        `--subject ${ALICE} --type advisor --valid-from 2026-02-01 --valid-until ${until}`,
      );
    assertEquals((await upsert("2027-06-30")).code, 0);
    const { valid_from, valid_until } = await lastEvent(workspace);
    assertEquals([valid_from, valid_until], [
      "2026-02-01T00:00:00Z",
      "2027-07-01T00:00:00Z",
    ]);
    const refused = await upsert("30.06.2027");
    assertEquals(refused.code, 2);
    assertStringIncludes(
      refused.stderr,
      "--valid-until must be a date or an instant: it is not in the form YYYY-MM-DD",
    );
  }));

Deno.test("what has expired is not told of as still active", () =>
  withIssuer(async (workspace) => {
    const upsert = (words: string) =>
      run(workspace, "upsert", `--subject ${ALICE} --type advisor ${words}`);
    await upsert("--relationship-id old --valid-until 2001-01-01T00:00:00Z");
    const second = await upsert("--relationship-id new");
    assertEquals(second.stderr, "");
    await run(
      workspace,
      "offboard",
      `--subject ${ALICE} --type employee --reason-code other --yes`,
    );
    const revoked = await run(
      workspace,
      "revoke",
      "--relationship-id new --reason-code other",
    );
    assertEquals(revoked.stderr, "");
  }));

Deno.test("a comma in a role, an end in the past, a re-activation: asked on a terminal, warned of elsewhere", () =>
  withIssuer(async (workspace) => {
    const doubtful = [
      // What reorders a text must not reorder the question about it.
      ["--role deploy,\u202ereview", '"deploy,\\u202ereview" is one role'],
      ["--valid-until 2020-01-01T00:00:00Z", "it already ended"],
      ["--relationship-id r2", "relationship r2 is revoked (seq=3)"],
    ] as const;
    for (const [words, doubt] of doubtful) {
      const all = `--subject did:web:bob.example --type other ${words}`;
      const asked: string[] = [];
      const { code, stderr } = await run(workspace, "upsert", all, {
        terminals: ["stdin", "stdout"],
        io: { ask: (text) => (asked.push(text), false) },
      });
      assertEquals([code, asked.length], [2, 1]);
      assertStringIncludes(asked[0]!, doubt);
      assertStringIncludes(stderr, "confirmation_required: Cannot append");
    }
    assertEquals((await lastEvent(workspace)).sequence, 3);
    for (const [words, doubt] of doubtful) {
      const all = `--subject did:web:bob.example --type other ${words}`;
      // In a loop over a list nobody types, whatever the results are shown on.
      const { code, stderr } = await run(workspace, "upsert", all, {
        terminals: ["stdout"],
        io: { ask: () => false },
      });
      assertEquals(code, 0);
      assertStringIncludes(stderr, doubt);
    }
  }));

Deno.test("set believes the feed, not an index that hides what was said last", () =>
  withIssuer(async (workspace) => {
    const index = workspace.path("acme/.sig/index.db");
    const rows = () => {
      using db = new DatabaseSync(index);
      return db.prepare("SELECT * FROM relationships").all();
    };
    const [first] = rows().filter((row) => row.relationship_id === "r1");
    await run(workspace, "set", "--relationship-id r1 --remove-role review");
    await run(workspace, "revoke", "--relationship-id r1 --reason-code other");
    using db = new DatabaseSync(index);
    db.prepare(
      "UPDATE relationships SET status = 'active', last_sequence = ?, offset = ?, bytes = ? WHERE relationship_id = 'r1'",
    ).run(first!.last_sequence!, first!.offset!, first!.bytes!);
    db.close();
    const { code, stderr } = await run(
      workspace,
      "set",
      "--relationship-id r1 --title Boss",
    );
    assertEquals(code, 2);
    assertStringIncludes(
      stderr,
      "already_revoked: Cannot set: the relationship is revoked",
    );
  }));
