import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withIssuer, type Workspace } from "../testdata/workspace.ts";

async function add(workspace: Workspace, words: string): Promise<void> {
  const { code, stderr } = await workspace.sig(
    ["upsert", "--dir", "$D/acme", ...words.split(" ")],
  );
  assertEquals(code, 0, stderr);
}

/** Three more people: one has ended, one begins later, one ends soon. */
async function addPeople(workspace: Workspace): Promise<void> {
  await add(
    workspace,
    "--subject did:web:zoe.example --type advisor --role refund --relationship-id r4 --valid-from 2020-01-01T00:00:00Z --valid-until 2025-01-01T00:00:00Z",
  );
  await add(
    workspace,
    "--subject did:web:yan.example --type advisor --role refund --relationship-id r5 --valid-from 2030-01-01T00:00:00Z",
  );
  await add(
    workspace,
    "--subject did:web:adam.example --type contractor --role refund --relationship-id r6 --valid-until 2026-01-20T12:00:00.5Z",
  );
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

Deno.test("who is a table for spreadsheets and a page that says what was verified", () =>
  withIssuer(async (workspace) => {
    await add(
      workspace,
      "--subject did:web:adam.example --type contractor --role x;=1+1 --relationship-id r6 --valid-until 2026-01-20T12:00:00Z",
    );
    const csv = await workspace.sig(["who", "$D/acme", "--format", "csv"]);
    assertEquals([csv.code, csv.stderr], [0, ""]);
    assertEquals(csv.stdout.split("\r\n"), [
      '"name","subject","relationship_id","type","roles","valid_from","valid_until","status","last_sequence"',
      `"","did:web:adam.example","r6","contractor","x;'=1+1","","2026-01-20T12:00:00Z","active","4"`,
      '"","did:web:alice.example","r1","employee","deploy;review","","","active","1"',
      "",
    ]);
    const html = await workspace.sig(["who", "$D/acme", "--format", "html"]);
    assertEquals([html.code, html.stderr], [0, ""]);
    const feed = await Deno.readFile(
      workspace.path("acme/.well-known/sig/events.jsonl"),
    );
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
    ) assertStringIncludes(html.stdout, part);
    assert(!/<script|(?:src|href)=/.test(html.stdout));
  }));

Deno.test("who lists only relationships that are effective, sorted by subject", () =>
  withIssuer(async (workspace) => {
    await addPeople(workspace);
    const all = await workspace.sig(["who", "$D/acme", "--format", "json"]);
    assertEquals([all.code, all.stderr], [0, ""]);
    assertEquals(JSON.parse(all.stdout), [ADAM, {
      subject: "did:web:alice.example",
      relationship_id: "r1",
      relationship_type: "employee",
      roles: ["deploy", "review"],
      valid_from: null,
      valid_until: null,
      effective_status: "active",
      last_sequence: 1,
    }]);
    const role = ["who", "--sig", "$D/acme", "--role", "refund"];
    const now = await workspace.sig([...role, "--format", "json"]);
    assertEquals(JSON.parse(now.stdout), [ADAM]);
    for (
      const [words, ids] of [
        ["--role refund --at 2024-06-01T00:00:00Z", ["r4"]],
        ["--type advisor --at 2031-01-01T00:00:00Z", ["r5"]],
        ["--as-of 2", ["r1", "r2"]],
        ["--role nobody-has-it", []],
      ] as const
    ) {
      const { stdout } = await workspace.sig(
        ["who", "$D/acme", ...words.split(" "), "--format", "json"],
      );
      const found: readonly { relationship_id: string }[] = JSON.parse(stdout);
      assertEquals(found.map((each) => each.relationship_id), [...ids]);
    }
    const nobody = await workspace.sig(["who", "$D/acme", "--role", "x"]);
    assertEquals([nobody.code, nobody.stdout], [0, "nobody\n"]);
  }));

Deno.test("expiring lists what ends by itself within the time given", () =>
  withIssuer(async (workspace) => {
    await addPeople(workspace);
    const run = (within: string) =>
      workspace.sig(
        ["expiring", "$D/acme", "--within", within, "--format", "json"],
      );
    assertEquals(JSON.parse((await run("30d")).stdout), [ADAM]);
    assertEquals(JSON.parse((await run("1d")).stdout), []);
    const bad = await run("30");
    assertEquals(bad.code, 2);
    assertStringIncludes(bad.stderr, '"flag":"--within"');
    const missing = await workspace.sig(["expiring", "$D/acme"]);
    assertEquals(missing.code, 2);
    assertStringIncludes(missing.stderr, "--within is required");
  }));

Deno.test("names stand beside DIDs, from the directory or a file, never in JSON", () =>
  withIssuer(async (workspace) => {
    await addPeople(workspace);
    const file = workspace.path("acme/.sig/names.csv");
    await Deno.writeTextFile(
      file,
      "subject,name\ndid:web:adam.example,Adam \u202eÁbel\n",
    );
    const table = await workspace.sig(["who", "$D/acme", "--role", "refund"]);
    assertEquals(
      table.stdout,
      "name             subject               type        roles   until                 status  relationship\n" +
        "Adam \\u202eÁbel  did:web:adam.example  contractor  refund  2026-01-20T12:00:00Z  active  r6\n",
    );
    const log = await workspace.sig(["log", "$D/acme", "--from", "6"]);
    assertStringIncludes(log.stdout, "Ábel  did:web:adam.example");
    const list = workspace.path("people.csv");
    await Deno.writeTextFile(
      list,
      "subject,type,roles\ndid:web:adam.example,contractor,audit\n",
    );
    const plan = await workspace.sig(
      ["plan", "--dir", "$D/acme", "--from", list],
    );
    assertStringIncludes(plan.stdout, "Ábel  did:web:adam.example");
    const json = await workspace.sig(["who", "$D/acme", "--format", "json"]);
    assert(!json.stdout.includes("Adam"));
    const other = workspace.path("names.csv");
    await Deno.writeTextFile(other, "name;subject\nA;did:web:adam.example\n");
    const told = await workspace.sig(
      ["who", "$D/acme", "--role", "refund", "--names", other],
    );
    assertStringIncludes(told.stdout, "A     did:web:adam.example");
  }));

Deno.test("a file of names that can't be meant is refused with what is wrong", () =>
  withIssuer(async (workspace) => {
    const file = workspace.path("names.csv");
    const tries = [
      ["did,name\na,b\n", "must have the columns subject and name"],
      ["subject,name\nd,A\nd,B\n", "call one subject two names (row 3)"],
      ["", "must have the columns subject and name"],
      [new Uint8Array([0xff]), "the file is not UTF-8"],
    ] as const;
    for (const [text, why] of tries) {
      await (typeof text === "string"
        ? Deno.writeTextFile(file, text)
        : Deno.writeFile(file, text));
      const ran = await workspace.sig(["who", "$D/acme", "--names", file]);
      assertEquals([ran.code, ran.stdout], [2, ""]);
      assertStringIncludes(ran.stderr, "invalid_request");
      assertStringIncludes(ran.stderr, why);
    }
    const none = await workspace.sig(
      ["who", "$D/acme", "--names", "$D/none.csv"],
    );
    assertEquals(none.code, 2);
    assertStringIncludes(none.stderr, "source_not_found");
  }));

Deno.test("a source is given once, as a word or by --sig", () =>
  withIssuer(async (workspace) => {
    for (const name of ["who", "verify", "log", "dump-state"]) {
      const word = await workspace.sig([name, "$D/acme"]);
      const flag = await workspace.sig([name, "--sig", "$D/acme"]);
      assertEquals([flag.code, flag.stdout], [0, word.stdout]);
      const twice = await workspace.sig([name, "$D/acme", "--sig", "$D/acme"]);
      assertEquals(twice.code, 2);
      assertStringIncludes(twice.stderr, "the source is given twice");
      const none = await workspace.sig([name]);
      assertEquals(none.code, 2);
      assertStringIncludes(none.stderr, "<source> is missing");
    }
  }));

Deno.test("on a terminal check and dump-state speak text, elsewhere JSON", () =>
  withIssuer(async (workspace) => {
    await addPeople(workspace);
    const terminal = {
      terminals: ["stdout", "stderr"] as const,
      io: { columns: () => 60 },
    };
    const ask = ["check", "--sig", "$D/acme", "--subject", "alice.example"];
    const question = [...ask, "--require", "role=deploy"];
    const check = await workspace.sig(question, terminal);
    assertEquals(check.code, 1);
    assertStringIncludes(check.stdout, "deny\x1b[0m  alice.example");
    assertStringIncludes(check.stdout, "\n  next: sig who $D/acme lists");
    const known = [...ask.slice(0, -1), "did:web:alice.example"];
    const denied = [...known, "--require", "role=nothing"];
    const { stdout } = await workspace.sig(denied, terminal);
    assertStringIncludes(stdout, "--subject did:web:alice.example shows what");
    assertStringIncludes(check.stderr, "did you mean did:web:alice.example?");
    const piped = await workspace.sig(question);
    assertEquals(JSON.parse(piped.stdout).decision, "deny");
    assertEquals(piped.stderr, "");
    const dump = await workspace.sig(["dump-state", "$D/acme"], terminal);
    for (const line of dump.stdout.split("\n")) {
      // deno-lint-ignore no-control-regex -- the colours do not count
      assert(line.replaceAll(/\x1b\[\d+m/g, "").length <= 60, line);
    }
    const fault = await workspace.sig(ask, terminal);
    assertEquals(fault.stderr.trimEnd().split("\n").length, 2);
  }));

Deno.test("what has expired is never shown as active", () =>
  withIssuer(async (workspace) => {
    await addPeople(workspace);
    const words = ["dump-state", "$D/acme", "--format", "text"];
    const { stdout } = await workspace.sig([...words, "--status", "expired"]);
    assertStringIncludes(stdout, "expired  r4");
    assert(!stdout.includes("active"));
    const all = await workspace.sig(words);
    assertStringIncludes(all.stdout, "not_yet_valid  r5");
  }));

Deno.test("a folder that is named like a host is hinted at, also with --allow-insecure", () =>
  withIssuer(async (workspace) => {
    const exists = (path: string) => path === "acme";
    for (const command of ["who", "expiring", "log", "audit", "doctor"]) {
      const within = command === "expiring" ? ["--within", "1d"] : [];
      const { code, stderr } = await workspace.sig(
        [command, "acme", "--allow-insecure", ...within],
        { io: { exists } },
      );
      assertEquals(code, 2);
      assertStringIncludes(
        stderr,
        'address_not_allowed: Cannot use "did:web:acme"',
      );
      assertStringIncludes(
        stderr,
        "hint: A folder of that name exists: write ./acme to read it.",
      );
    }
  }));
