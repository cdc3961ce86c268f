import { verifyEvidence } from "@sig/consumer";
import { createKeyResolver } from "@sig/jose";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  type Given,
  withIssuer,
  type Workspace,
} from "../testdata/workspace.ts";

const EVIL = `<script>alert("x")</script>&'\u202e`;

/** After all events. */
const LATER: Given = {
  io: { now: () => new Date(Date.UTC(2026, 0, 1, 2)) },
};

async function run(
  workspace: Workspace,
  words: readonly string[],
  given: Given = {},
) {
  const ran = await workspace.sig(words, given);
  assertEquals([ran.code, ran.stderr], [0, ""]);
  return ran.stdout;
}

function audit(
  workspace: Workspace,
  words: readonly string[] = [],
  given = LATER,
) {
  return run(workspace, ["audit", "$D/acme", ...words], given);
}

const UPSERT = ["upsert", "--dir", "$D/acme", "--relationship-id"];
const ADAM = ["--subject", "did:web:adam.example", "--type", "contractor"];

/** An append, which may warn. */
async function append(
  workspace: Workspace,
  words: readonly string[],
  given: Given = {},
): Promise<void> {
  const { code, stderr } = await workspace.sig(words, given);
  assertEquals(code, 0, stderr);
}

/** Other roles for alice, a contract that ends by itself, a backdated ending. */
async function addStory(workspace: Workspace): Promise<void> {
  await append(workspace, [
    ...[...UPSERT, "r1", "--subject", "did:web:alice.example"],
    ...["--type", "employee", "--role", "deploy", "--role", "refund"],
  ]);
  await append(workspace, [
    ...[...UPSERT, "r4", ...ADAM, "--role", EVIL],
    ...["--valid-until", "2026-01-01T00:30:00Z"],
  ]);
  await append(workspace, ["rotate-key", "--dir", "$D/acme", "--kid", "k2"]);
  await append(workspace, [
    ...["revoke", "--dir", "$D/acme", "--relationship-id", "r1"],
    ...["--reason-code", "employment_ended", "--reason", EVIL],
    ...["--issued-at", "2026-01-01T01:00:00Z"],
    ...["--effective-at", "2025-12-01T00:00:00Z", "--allow-warnings"],
  ], LATER);
}

interface Entry {
  readonly [name: string]: unknown;
}

Deno.test("an audit says who gained or lost what, by which key, and what ended by itself", () =>
  withIssuer(async (workspace) => {
    await addStory(workspace);
    const report = JSON.parse(await audit(workspace, ["--format", "json"]));
    const entries: readonly Entry[] = report.entries;
    assertEquals(
      entries.map((each) => [
        each.kind,
        each.cause,
        each.relationship_id,
        each.roles_gained,
        each.roles_lost,
        each.sequence,
        each.kid,
        each.backdated,
      ]),
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
    assertEquals(
      [report.issuer, report.from, report.to, report.last_sequence],
      ["did:web:acme.example", null, "2026-01-01T01:00:00Z", 6],
    );
  }));

Deno.test("an audit takes what came after --from, up to and with --to", () =>
  withIssuer(async (workspace) => {
    await addStory(workspace);
    const sequences = async (words: string) => {
      const json = await audit(workspace, [
        ...words.split(" "),
        ...["--format", "json"],
      ]);
      const entries: readonly Entry[] = JSON.parse(json).entries;
      return entries.map(({ sequence }) => sequence);
    };
    assertEquals(
      await sequences(
        "--from 2026-01-01T00:30:00Z --to 2026-01-01T01:00:00Z",
      ),
      [6],
    );
    assertEquals(
      await sequences(
        "--from 2026-01-01T00:29:59Z --to 2026-01-01T00:30:00Z",
      ),
      [5],
    );
    assertEquals(await sequences("--to 2025-01-01T00:00:00Z"), []);
    // Through the day on which all of it happened, and after its start.
    assertEquals(
      await sequences("--from 2026-01-01 --to 2026-01-01"),
      await sequences("--from 2026-01-01T00:00:00Z"),
    );
    const bad = await workspace.sig(["audit", "$D/acme", "--to", "today"]);
    assertEquals(bad.code, 2);
    assertStringIncludes(bad.stderr, "--to must be an RFC 3339 UTC timestamp");
  }));

Deno.test("an event that is dated back is in the report of when it came, and marked", () =>
  withIssuer(async (workspace) => {
    await addStory(workspace);
    // It comes last, and says that it came before all others of that day.
    await append(workspace, [
      ...[...UPSERT, "r5", ...ADAM, "--role", "deploy"],
      ...["--valid-until", "2025-12-24T00:00:00Z", "--allow-warnings"],
      ...["--issued-at", "2025-12-20T00:00:00Z"],
    ], LATER);
    const entriesOf = async (words: string) => {
      const json = await audit(workspace, [
        ...words.split(" ").filter((word) => word !== ""),
        ...["--format", "json"],
      ]);
      const { to, entries } = JSON.parse(json);
      return {
        to,
        known: entries.map(({ sequence, at, known_at }: Entry) => [
          ...[sequence, at, known_at],
        ]),
      };
    };
    const came = "2026-01-01T01:00:00Z";
    const late = [
      [7, "2025-12-20T00:00:00Z", came],
      [7, "2025-12-24T00:00:00Z", came],
    ];
    const december = await entriesOf("--to 2025-12-31T00:00:00Z");
    assertEquals(december.known, []);
    const day = await entriesOf("--from 2026-01-01T00:30:00Z");
    assertEquals(day, { to: came, known: [[6, came, came], ...late] });
    const { stdout } = await workspace.sig(["audit", "$D/acme"], LATER);
    assertStringIncludes(stdout, `known from ${came} on`);
  }));

Deno.test("an event that is dated back takes no end out of an earlier report, and what it gives back is gained", () =>
  withIssuer(async (workspace) => {
    await addStory(workspace);
    const until = ["--to", "2026-01-01T00:45:00Z"];
    const before = await audit(workspace, until);
    assertStringIncludes(before, "ended by itself");
    // It comes after the end, and says that it came before.
    await append(workspace, [
      ...[...UPSERT, "r4", ...ADAM, "--role", EVIL],
      ...["--issued-at", "2026-01-01T00:15:00Z", "--allow-warnings"],
    ], LATER);
    assertEquals(await audit(workspace, until), before);
    const words = ["--from", "2026-01-01T00:45:00Z", "--format", "json"];
    const { stdout } = await workspace.sig(
      ["audit", "$D/acme", ...words],
      LATER,
    );
    const { kind, roles_gained, known_at } = JSON.parse(stdout).entries.at(-1);
    assertEquals([kind, roles_gained, known_at], [
      "gained",
      [EVIL],
      "2026-01-01T01:00:00Z",
    ]);
  }));

Deno.test("the same feed gives the same bytes in every format, whatever the clock says", () =>
  withIssuer(async (workspace) => {
    await addStory(workspace);
    for (const format of ["text", "json", "csv", "html"]) {
      const words = ["--format", format];
      assertEquals(
        await audit(workspace, words),
        await audit(workspace, words, {
          io: { now: () => new Date(Date.UTC(2031, 5)) },
        }),
      );
    }
  }));

Deno.test("text, CSV and HTML mark what is backdated and obey nothing of the feed", () =>
  withIssuer(async (workspace) => {
    await addStory(workspace);
    await Deno.writeTextFile(
      workspace.path("acme/.sig/names.csv"),
      "subject,name\ndid:web:adam.example,=Adam<b>\ndid:web:alice.example,＝Alice\n",
    );
    const text = await audit(workspace);
    assertStringIncludes(
      text,
      "employment_ended, backdated to 2025-12-01T00:00:00Z",
    );
    assertStringIncludes(text, "ended by itself");
    const csv = await audit(workspace, ["--format", "csv"]);
    assertEquals(csv.split("\r\n").length, 9);
    assertStringIncludes(csv, `"'=Adam<b>"`);
    assertStringIncludes(csv, `"'＝Alice"`);
    const page = await audit(workspace, ["--format", "html"]);
    assertStringIncludes(
      page,
      '<tr class="marked">\n<td class="short">2026-01-01T01:00:00Z</td>\n<td class="short">lost</td>',
    );
    assertStringIncludes(page, "=Adam&#60;b&#62;");
    assert(!page.includes("<script") && !page.includes("<b>"));
    assert(!/(?:src|href)=/.test(page));
    assertStringIncludes(page, "default-src 'none'");
    for (const output of [text, csv, page]) {
      assert(!output.includes("\u202e"));
    }
  }));

Deno.test("a relationship that is handed on is lost by one and gained by another", () =>
  withIssuer(async (workspace) => {
    await append(workspace, [
      ...[...UPSERT, "r1", "--subject", "did:web:mallory.example"],
      ...["--type", "employee", "--role", "deploy", "--allow-warnings"],
    ]);
    const { stdout } = await workspace.sig(
      ["audit", "$D/acme", "--format", "json"],
      LATER,
    );
    const { entries } = JSON.parse(stdout);
    assertEquals(
      entries.slice(-2).map((entry: Record<string, unknown>) => [
        ...[entry.kind, entry.subject, entry.roles_gained, entry.roles_lost],
        ...[entry.before === null, entry.after === null],
      ]),
      [
        ...[["lost", "did:web:alice.example", [], ["deploy", "review"]]]
          .map((entry) => [...entry, false, true]),
        ...[["gained", "did:web:mallory.example", ["deploy"], []]]
          .map((entry) => [...entry, true, false]),
      ],
    );
  }));

Deno.test("an audit writes an evidence file for each line, which says whether the line holds", () =>
  withIssuer(async (workspace) => {
    await addStory(workspace);
    const words = ["audit", "$D/acme", "--evidence", "$D/my evidence"];
    const early = await workspace.sig(words, LATER);
    assertEquals([early.code, early.stdout], [2, ""]);
    assertStringIncludes(
      early.stderr,
      "proof_invalid: Cannot use proof: the issuer publishes no proofs",
    );
    await run(workspace, ["checkpoint", "--dir", "$D/acme", "--init"]);
    const page = await run(workspace, [...words, "--format", "html"], LATER);
    const links = [...page.matchAll(/<td class="short"><a href="([^"]*)">/g)]
      .map(([, href]) => decodeURIComponent(href!));
    assertEquals(
      links,
      [1, 2, 3, 4, 5, 6, 7].map((n) => `$D/my evidence/line-${n}.json`),
    );
    const jwks = workspace.path("acme/.well-known/jwks.json");
    const { keys } = await createKeyResolver(
      JSON.parse(await Deno.readTextFile(jwks)),
    );
    const shown = await Promise.all(links.map(async (file) => {
      const bytes = await Deno.readFile(file.replace("$D", workspace.dir));
      const { evidence } = await verifyEvidence(bytes, keys.values());
      const { answer: { decision }, question: { require, subject } } = evidence;
      return [decision, subject.split(":")[2], ...require];
    }));
    // As known now: event 6 ends r1 before it began.
    assertEquals(shown, [
      ["deny", "alice.example", "relationship=employee"]
        .concat(["role=deploy", "role=review"]),
      ["allow", "bob.example", "relationship=contractor"],
      ["deny", "bob.example", "relationship=contractor"],
      ["deny", "alice.example", "relationship=employee", "role=refund"],
      ["allow", "adam.example", "relationship=contractor", `role=${EVIL}`],
      ["deny", "adam.example", "relationship=contractor", `role=${EVIL}`],
      ["deny", "alice.example", "relationship=employee"]
        .concat(["role=deploy", "role=refund"]),
    ]);
    const again = await workspace.sig(words, LATER);
    assertEquals([again.code, again.stdout], [2, ""]);
    assertStringIncludes(again.stderr, "write_failed");
    const json = await audit(workspace, [
      ...["--evidence", "$D/e", "--format", "json"],
    ]);
    assertEquals(JSON.parse(json).entries[2].evidence, {
      ...{ file: "$D/e/line-3.json", decision: "deny" },
    });
    const csv = await audit(workspace, [
      ...["--evidence", "$D/f", "--format", "csv"],
    ]);
    const [head, , , third] = csv.split("\r\n");
    assert(head!.endsWith(',"evidence","decision"'), head);
    assert(third!.endsWith(',"$D/f/line-3.json","deny"'), third);
  }));

Deno.test("an empty feed has an audit too", () =>
  withIssuer(async (workspace) => {
    await run(workspace, ["init", "new.example", "--dir", "$D/new"]);
    assertEquals(
      await run(workspace, ["audit", "$D/new"]),
      "did:web:new.example, from the beginning on\nnothing happened\n",
    );
    const page = await run(workspace, ["audit", "$D/new", "--format", "html"]);
    assertStringIncludes(page, "Nothing happened.");
  }));

Deno.test("diff exits 0 when two sources say the same, and 1 with what differs", () =>
  withIssuer(async (workspace) => {
    const copy = workspace.path("copy/.well-known");
    await Deno.mkdir(`${copy}/sig`, { recursive: true });
    for (const name of ["did.json", "jwks.json", "sig.json"]) {
      await Deno.copyFile(
        workspace.path(`acme/.well-known/${name}`),
        `${copy}/${name}`,
      );
    }
    await Deno.copyFile(
      workspace.path("acme/.well-known/sig/events.jsonl"),
      `${copy}/sig/events.jsonl`,
    );
    assertEquals(
      await run(workspace, ["diff", "$D/copy", "$D/acme"]),
      "equal: did:web:acme.example at event 3\n",
    );
    await run(workspace, ["diff", "--sig", "$D/copy", "$D/acme"]);
    await addStory(workspace);
    const words = ["diff", "$D/copy", "$D/acme"];
    const json = await workspace.sig([...words, "--format", "json"], LATER);
    assertEquals(json.code, 1);
    const found = JSON.parse(json.stdout);
    assertEquals(found.equal, false);
    assertEquals(
      found.differences.map((each: Entry) => [each.kind, each.fields]),
      [
        ["changed", [
          "roles",
          "status",
          "last_sequence",
          "revoked_reason_code",
          "revoked_effective_at",
        ]],
        ["added", []],
      ],
    );
    const text = await workspace.sig(words);
    assertEquals(text.code, 1);
    assertStringIncludes(
      text.stdout,
      "roles deploy, review → deploy, refund; status active → revoked",
    );
    const back = await workspace.sig(["diff", "$D/acme", "$D/copy"]);
    assertStringIncludes(back.stdout, "removed  r4");
  }));

Deno.test("diff compares two moments of one source", () =>
  withIssuer(async (workspace) => {
    const moments = (from: string, to: string) =>
      workspace.sig(["diff", "$D/acme", "--from", from, "--to", to]);
    const same = await moments("2", "2");
    assertEquals([same.code, same.stderr], [0, ""]);
    const ended = await moments("2", "3");
    assertEquals(ended.code, 1);
    assertStringIncludes(ended.stdout, "status active → revoked");
    const beyond = await moments("1", "99");
    assertEquals(beyond.code, 2);
    assertStringIncludes(beyond.stderr, "consistency_unavailable");
    for (
      const [words, why] of [
        [["diff", "$D/acme"], "there is nothing to compare with"],
        [
          ["diff", "$D/acme", "$D/acme", "--from", "1"],
          "--from and --to are for one source",
        ],
        [
          ["diff", "--sig", "$D/acme", "$D/acme", "$D/acme"],
          "there are three sources",
        ],
        [["diff"], "<source> is missing"],
        [["diff", "$D/acme", "--from", "0"], "--from must be a sequence"],
      ] as const
    ) {
      const { code, stderr } = await workspace.sig(words);
      assertEquals(code, 2);
      assertStringIncludes(stderr, why);
    }
  }));

Deno.test("an audit says what changed where no role did", () =>
  withIssuer(async (workspace) => {
    const change = (...words: readonly string[]) =>
      append(workspace, [
        ...["set", "--dir", "$D/acme", "--relationship-id"],
        ...words,
      ]);
    await append(workspace, [
      ...[...UPSERT, "r4", ...ADAM, "--role", "deploy"],
      ...["--valid-until", "2026-06-30T00:00:00Z"],
    ]);
    await change("r4", "--valid-until", "none");
    await change("r4", "--title", "Deployer");
    await append(workspace, [
      ...[...UPSERT, "r5", ...ADAM, "--role", "deploy"],
      ...["--valid-from", "2030-01-01T00:00:00Z"],
    ]);
    await change("r5", "--role", "refund", "--role", "review");
    const text = await audit(workspace);
    const lines = text.split("\n");
    for (
      const [sequence, kind, says] of [
        [5, "changed", "valid_until 2026-06-30T00:00:00Z → none"],
        [6, "changed", "nothing that a check looks at"],
        [8, "recorded", "roles deploy → refund, review"],
      ] as const
    ) {
      const line = lines.find((each) => each.endsWith(`#${sequence}`));
      assertStringIncludes(line ?? "", `  ${kind}`);
      assertStringIncludes(line ?? "", `  ${says}  `);
    }
    const page = await audit(workspace, ["--format", "html"]);
    assertStringIncludes(page, "valid_until 2026-06-30T00:00:00Z → none");
  }));
