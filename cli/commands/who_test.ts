import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  FEED,
  issuerTest as test,
  type Workspace,
} from "../testdata/workspace.ts";

const NAMES = "acme/.sig/people.csv";

/** Adds three relationships: one has ended, one begins later, one ends soon. */
async function addPeople(workspace: Workspace): Promise<void> {
  for (
    const words of [
      "--subject did:web:zoe.example --type advisor --relationship-id r4 --valid-from 2020-01-01T00:00:00Z --valid-until 2025-01-01T00:00:00Z",
      "--subject did:web:yan.example --type advisor --relationship-id r5 --valid-from 2030-01-01T00:00:00Z",
      "--subject did:web:adam.example --type contractor --relationship-id r6 --valid-until 2026-01-20T12:00:00.5Z",
    ]
  ) {
    const upsert = `upsert --dir $D/acme --role refund ${words}`;
    await workspace.says(upsert);
  }
}

const ADAM = {
  subject: "did:web:adam.example",
  relationship_id: "r6",
  relationship_type: "contractor",
  roles: ["refund"],
  valid_from: null,
  valid_until: "2026-01-20T12:00:00.5Z",
  effective_status: "active",
  last_sequence: 6,
};

/** The members that every element of `who` and `expiring` repeats. */
const ASKED = {
  ...{ person: null, name: null },
  asked: { role: null, type: null, at: null, as_of: null },
};

test("who prints CSV for spreadsheets, and an HTML page that names the verified feed", async (workspace) => {
  await workspace.sig(
    "upsert --dir $D/acme --subject did:web:adam.example --type contractor --role x;=1+1 --relationship-id r6 --valid-until 2026-01-20T12:00:00Z",
  );
  assertEquals(
    await workspace.ok("who $D/acme --format csv"),
    [
      `\uFEFF"person","name","subject","relationship_id","type","roles","valid_from","valid_until","status","last_sequence","asked_role","asked_type","asked_at","asked_as_of"`,
      `"","","did:web:adam.example","r6","contractor","x;'=1+1","","2026-01-20T12:00:00Z","active","4","","","",""`,
      '"","","did:web:alice.example","r1","employee","deploy;review","","","active","1","","","",""',
      "",
    ].join("\r\n"),
  );
  const page = await workspace.ok("who $D/acme --format html");
  const feed = new TextEncoder().encode(await workspace.read(FEED));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", feed));
  for (
    const part of [
      "<dd>did:web:acme.example</dd>",
      "<dd>events 1 to 4</dd>",
      `<dd>${digest.toHex()}</dd>`,
      "<dd>orgsign-1: events 1 to 4</dd>",
      '<td>did:web:alice.example</td>\n<td class="short">employee</td>\n<td>deploy, review</td>',
      "default-src 'none'",
    ]
  ) assertStringIncludes(page, part);
  assert(!/<script|(?:src|href)=/.test(page));
});

test("who and expiring list only relationships that are effective, sorted by subject", async (workspace) => {
  await addPeople(workspace);
  assertEquals(await workspace.json("who $D/acme"), [{ ...ADAM, ...ASKED }, {
    ...ASKED,
    ...{ subject: "did:web:alice.example", relationship_id: "r1" },
    ...{ relationship_type: "employee", roles: ["deploy", "review"] },
    ...{ valid_from: null, valid_until: null },
    ...{ effective_status: "active", last_sequence: 1 },
  }]);
  for (
    const [words, ids] of [
      ["who --sig $D/acme --role refund", ["r6"]],
      ["who $D/acme --role refund --at 2024-06-01T00:00:00Z", ["r4"]],
      ["who $D/acme --type advisor --at 2031-01-01T00:00:00Z", ["r5"]],
      ["who $D/acme --as-of 2", ["r1", "r2"]],
      ["who $D/acme --role nobody-has-it", []],
      ["expiring $D/acme --within 30d", ["r6"]],
      ["expiring $D/acme --within 1d", []],
    ] as const
  ) {
    const found: readonly (typeof ADAM)[] = await workspace.json(words);
    assertEquals(found.map((each) => each.relationship_id), [...ids], words);
  }
  await workspace.says("who $D/acme --role x", {
    out: "\nnobody\n",
    stderr: 'warning: never_seen: no event has the role "x"\n',
  });
  await workspace.refused("expiring $D/acme --within 30", "at flag --within");
  await workspace.refused("expiring $D/acme", "--within is required");
});

test("names from the directory or a file are shown next to DIDs", async (workspace) => {
  await addPeople(workspace);
  await workspace.write(
    NAMES,
    "subject,name\ndid:web:adam.example,Adam \u202eÁbel\n",
  );
  const who = "who $D/acme --role refund";
  assertStringIncludes(
    await workspace.ok(who),
    "\nname             subject               type        roles   until                 status  relationship\n" +
      "Adam \\u202eÁbel  did:web:adam.example  contractor  refund  2026-01-20T12:00:00Z  active  r6\n",
  );
  const named = "Ábel  did:web:adam.example";
  const log = await workspace.ok("log $D/acme --from 6");
  assertStringIncludes(log, named);
  await workspace.write(
    "people.csv",
    "subject,type,roles\ndid:web:adam.example,contractor,audit\n",
  );
  const plan = await workspace.sig("plan --dir $D/acme --from $D/people.csv");
  assertStringIncludes(plan.stdout, named);
  const [adam] = await workspace.json(who);
  assertEquals([adam.person, adam.name], [null, "Adam \u202eÁbel"]);
  await workspace.write("names.csv", "name;subject\nA;did:web:adam.example\n");
  assertStringIncludes(
    await workspace.ok(`${who} --people $D/names.csv`),
    "A     did:web:adam.example",
  );
});

test("an invalid names file is refused with the reason", async (workspace) => {
  const who = "who $D/acme --people $D/names.csv";
  await workspace.refused(who, "error: source_not_found: ");
  for (
    const [text, why] of [
      ["did,name\na,b\n", "it has no column subject"],
      [new Uint8Array([0xff]), "it is not UTF-8"],
    ] as const
  ) {
    await workspace.write("names.csv", text);
    await workspace.refused(who, ["error: invalid_request: ", why]);
  }
});

test("a source is given once, as an argument or by --sig", async (workspace) => {
  for (const name of ["who", "verify", "log", "dump-state"]) {
    const words = "--format json";
    assertEquals(
      await workspace.ok(`${name} --sig $D/acme ${words}`),
      await workspace.ok(`${name} $D/acme ${words}`),
    );
    await workspace.refused(
      `${name} $D/acme --sig $D/acme`,
      "the source is given twice",
    );
    await workspace.refused(name, "<source> is missing");
  }
});

test("check and dump-state print text on a terminal, and JSON elsewhere", async (workspace) => {
  await addPeople(workspace);
  const terminal = {
    terminals: ["stdout", "stderr"] as const,
    io: { columns: () => 60 },
  };
  const check = "check --sig $D/acme --subject";
  const unknown = `${check} alice.example --require role=deploy`;
  await workspace.says(unknown, {
    ...terminal,
    code: 1,
    out: ["deny\x1b[0m  alice.example", "\n  next: sig who $D/acme lists"],
    err: "did you mean did:web:alice.example?",
  });
  const { stdout } = await workspace.sig(
    `${check} did:web:alice.example --require role=nothing`,
    terminal,
  );
  assertStringIncludes(stdout, "--subject did:web:alice.example shows what");
  const piped = await workspace.sig(unknown);
  assertEquals(JSON.parse(piped.stdout).decision, "deny");
  assertEquals(piped.stderr, "");
  const dump = await workspace.sig("dump-state $D/acme", terminal);
  for (const line of dump.stdout.split("\n")) {
    // deno-lint-ignore no-control-regex -- the colours do not count
    assert(line.replaceAll(/\x1b\[\d+m/g, "").length <= 60, line);
  }
  const fault = await workspace.sig(`${check} alice.example`, terminal);
  assertEquals(fault.stderr.trimEnd().split("\n").length, 2);
});

test("dump-state shows each effective status, and never an expired relationship as active", async (workspace) => {
  await addPeople(workspace);
  const words = "dump-state $D/acme --format text";
  const expired = await workspace.ok(`${words} --status expired`);
  assertStringIncludes(expired, "expired  r4");
  assert(!expired.includes("active"));
  assertStringIncludes(await workspace.ok(words), "not_yet_valid  r5");
});

const warned = (text: string) => `\x1b[33mwarning\x1b[0m: ${text}\n`;

/** Commands with an empty result, and their warning on a terminal. */
const STRANGERS: readonly (readonly [words: string, stderr: string])[] = [
  ...["log", "dump-state"].flatMap((command) =>
    [
      [
        "did:web:alcie.example",
        warned(
          'never_seen: no event is about "did:web:alcie.example"; did you mean did:web:alice.example?',
        ),
      ],
      [
        "alice.example",
        warned(
          'never_seen: no event is about "alice.example"; did you mean did:web:alice.example?',
        ),
      ],
      ["did:web:alcie.example --format json", ""],
      ["did:web:alice.example", ""],
    ].map(([subject, stderr]) =>
      [`${command} $D/acme --subject ${subject}`, stderr!] as const
    )
  ),
  // The subject has an event, but before --from.
  ["log $D/acme --subject did:web:alice.example --from 2", ""],
  [
    "log $D/acme --relationship-id r9",
    warned('never_seen: no event is about relationship "r9"'),
  ],
  [
    "log $D/acme --relationship-id r2 --subject did:web:alice.example",
    warned('never_seen: no event is about relationship "r2"'),
  ],
  ["log $D/acme --relationship-id r1 --from 2", ""],
  // The subject has a relationship, but not an active one.
  ["dump-state $D/acme --subject did:web:bob.example --status active", ""],
  // The subject may be unknown only because the state is old.
  ["dump-state $D/acme --subject did:web:bob.example --as-of 1", ""],
];

test("log and dump-state warn about a subject or relationship without an event", async (workspace) => {
  for (const [words, stderr] of STRANGERS) {
    const given = { terminals: ["stdout", "stderr"] as const };
    await workspace.says(words, { ...given, stderr });
  }
  const json = "log $D/acme --subject did:web:alcie.example --format json";
  assertEquals(await workspace.ok(json), "");
});

test("a hint mentions a folder with the host's name, also with --allow-insecure", async (workspace) => {
  const given = { io: { exists: (path: string) => path === "acme" } };
  for (const command of ["verify", "who", "doctor"]) {
    await workspace.says(`${command} acme --allow-insecure`, {
      ...given,
      code: 2,
      err: [
        'fetch_failed: Cannot fetch "http://acme/.well-known/sig.json"',
        "hint: A folder of that name exists: write ./acme to read it.",
      ],
    });
  }
});
