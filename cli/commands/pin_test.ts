import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createIssuerSite } from "../site/issuer_site.ts";
import {
  FEED,
  type Given,
  type Ran,
  serveIssuer,
  testsWith,
  type Workspace,
} from "../testdata/workspace.ts";

// deno-lint-ignore no-explicit-any -- the JSON of a program, looked into by tests
type Json = any;

interface Remembered {
  readonly workspace: Workspace;
  readonly host: string;
  readonly did: string;
  /** Runs `check` of Alice's role; `json` is the answer or the problem. */
  check(words?: string, given?: Given): Promise<Ran & { readonly json: Json }>;
  /** Runs `check`, which must fail with `code`, and returns the problem. */
  unanswered(words: string, code: string, given?: Given): Promise<Json>;
  /** Runs `sig pin` with JSON output. */
  pin(words: string): Promise<Ran & { readonly json: Json }>;
  /** Appends an upsert of a person. */
  append(name: string): Promise<unknown>;
  /** Serves only the feed's first lines (default: all). */
  serveOnly(lines?: number): void;
  /** Does work during the next request for the feed, which does not show it. */
  whileServing(work: () => Promise<unknown>): void;
  /** Answers every request with 503 from then on. */
  silence(): void;
}

/** Declares a test with an issuer of two people on a server. */
const test = testsWith<Remembered>(async (workspace, work) => {
  const site = createIssuerSite(workspace.path("acme"));
  let lines: number | undefined;
  let isSilent = false;
  let meanwhile: (() => Promise<unknown>) | undefined;
  await using server = await serveIssuer(workspace, "acme", async (request) => {
    if (isSilent) return new Response(null, { status: 503 });
    const isFeed = request.url.endsWith(".jsonl");
    const work = isFeed ? meanwhile : undefined;
    if (work === undefined && (lines === undefined || !isFeed)) {
      return await site(request);
    }
    const text = await workspace.read(FEED);
    if (work !== undefined) {
      meanwhile = undefined;
      await work();
    }
    const body = text.split("\n").slice(0, lines ?? -1).map((l) => `${l}\n`);
    return new Response(body.join(""), {
      headers: { "content-type": "application/x-ndjson" },
    });
  });
  const { host } = server;
  const did = `did:web:${host.replace(":", "%3A")}`;
  const run = async (words: string, given?: Given) => {
    const ran = await workspace.sig(words, given);
    return { ...ran, json: JSON.parse(ran.stdout || ran.stderr) };
  };
  const check = (words = "", given?: Given) =>
    run(
      `check --sig ${host} --allow-insecure --subject did:web:alice.example --require role=deploy ${words}`,
      given,
    );
  const append = (name: string) =>
    workspace.ok(
      `upsert --dir $D/acme --subject did:web:${name}.example --type employee --role deploy`,
    );
  await append("alice");
  await append("bob");
  await work({
    ...{ workspace, host, did, check, append },
    async unanswered(words, expected, given) {
      const { code, stdout, json } = await check(words, given);
      assertEquals([code, stdout, json.code], [2, "", expected], words);
      return json;
    },
    pin: (words) => run(`pin ${words} --format json`),
    serveOnly: (n) => void (lines = n),
    whileServing: (work) => void (meanwhile = work),
    silence: () => void (isSilent = true),
  });
});

/** Damages the user's pin store by SQL. */
async function alter(workspace: Workspace, sql: string): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  using database = new DatabaseSync(workspace.path("data/sig/pins.db"));
  database.exec(sql);
}

const ACK = "--allow-insecure --reason restored";

test("a second process finds the history consistent with the pin", async ({ check, pin, append, did, host, workspace }) => {
  const first = await check();
  assertEquals([first.code, first.json.continuity], [0, "first_seen"]);
  assertEquals(first.json.freshness.max_age_seconds, 0);
  await append("carol");
  const second = await check();
  assertEquals(
    [second.code, second.json.continuity, second.json.last_sequence],
    [0, "consistent", 3],
  );
  const { json } = await pin(`show ${host}`);
  const feed = await Deno.readFile(workspace.path(FEED));
  const digest = await crypto.subtle.digest("SHA-256", feed);
  assertEquals(Object.keys(json), [
    ...["issuer", "sequence", "bytes", "prefix_sha256", "last_event_id"],
    ...["keys", "etag", "first_seen", "last_seen", "incident"],
    ...["acknowledged", "proof", "recovery", "key_added"],
  ]);
  assertEquals(
    [json.issuer, json.sequence, json.bytes, json.prefix_sha256],
    [did, 3, feed.length, new Uint8Array(digest).toHex()],
  );
  assertEquals((await pin("list")).json, [json]);
  // Labels and values are two columns.
  const shown = await workspace.ok(`pin show ${did}`);
  const lines = shown.trimEnd().split("\n");
  assertEquals(lines.filter((line) => !/^.{10} {2}\S/.test(line)), []);
  // The pin store is as private as the keys.
  assertEquals(await workspace.mode("data/sig/pins.db"), 0o600);
});

test("log prints each event once if another process reads a new event meanwhile", async ({ check, append, whileServing, workspace, host }) => {
  await check();
  whileServing(async () => {
    await append("carol");
    assertEquals((await check()).json.last_sequence, 3);
  });
  const { code, stdout } = await workspace.sig(`log ${host} --allow-insecure`);
  assertEquals(code, 0);
  const events = stdout.trimEnd().split("\n").map((line) => line.split(/ +/));
  assertEquals(events.map(([sequence, , effect]) => [sequence, effect]), [
    ["#1", "gained"],
    ["#2", "gained"],
    ["#3", "gained"],
  ]);
});

test("a rolled back feed is an error until the issuer serves the remembered events again", async ({ check, unanswered, pin, serveOnly, workspace, host, did }) => {
  await check();
  serveOnly(1);
  for (const words of ["", "--full", "--max-age 5m"]) {
    const problem = await unanswered(words, "feed_rolled_back");
    assertEquals(
      [problem.remembered_sequence, problem.fetched_sequence],
      [2, 1],
    );
  }
  const { incident, sequence } = (await pin(`show ${host}`)).json;
  assertEquals([incident.code, sequence], ["feed_rolled_back", 2]);
  assertStringIncludes(incident.detail, "ends at sequence 1, but 2 events");
  serveOnly();
  const { code, json } = await check();
  assertEquals(
    [code, json.decision, json.continuity],
    [0, "allow", "consistent"],
  );
  const codes = json.warnings.map((each: Json) => each.code);
  assertEquals(codes, ["history_was_inconsistent"]);
  assertEquals((await pin(`show ${host}`)).json.incident, null);
  // Answers warn of it until it is acknowledged, so it is shown.
  const shown = () => workspace.ok(`pin show ${did}`);
  const warned = "warned of   feed_rolled_back, until sig pin ack";
  assertStringIncludes(await shown(), warned);
  await pin(`ack ${host} ${ACK} --yes`);
  assertEquals((await shown()).includes("warned of"), false);
  assertEquals((await check()).json.warnings, []);
  serveOnly(1);
  const log = await workspace.sig(`log ${did} --allow-insecure`);
  assertStringIncludes(log.stderr, "next: sig pin ack <issuer> --reason");
});

test("sig pin ack is advised for a pin only, not for a cursor or an issuer directory", async ({ serveOnly, workspace, host, pin, append }) => {
  const refusal = async (words: string): Promise<Json> => {
    const problem = JSON.parse((await workspace.sig(words)).stderr);
    assertEquals(problem.code, "feed_rolled_back");
    return problem;
  };
  const watch = `watch ${host} --allow-insecure --once`;
  await workspace.sig(watch);
  serveOnly(1);
  assertStringIncludes((await refusal(watch)).next, "sig pin ack <issuer>");
  // The pin is reset, but the cursor is still ahead of the feed.
  await pin(`ack ${host} ${ACK} --yes`);
  const cursor = await refusal(watch);
  assertEquals([cursor.seen_sequence, cursor.next], [2, undefined]);
  // The index of the operator's own feed shows the truncation.
  await append("carol");
  const [first] = (await workspace.read(FEED)).split("\n");
  await workspace.write(FEED, `${first}\n`);
  const operator = await refusal(
    "upsert --dir $D/acme --type employee --subject did:web:dora.example --format json",
  );
  assertEquals(operator.next, undefined);
});

test("pin ack accepts only a history that was shown and confirmed", async ({ append, check, unanswered, pin, serveOnly, workspace, host, did }) => {
  await append("carol");
  await check();
  serveOnly(2);
  await unanswered("", "feed_rolled_back");
  const before = (await pin(`show ${host}`)).json;

  const unasked = await pin(`ack ${host} ${ACK}`);
  assertEquals(
    [unasked.code, unasked.json.code],
    [2, "confirmation_required"],
  );
  const questions: string[] = [];
  const ack = (answer: boolean, more = "") =>
    workspace.sig(`pin ack ${did} ${ACK} ${more}`, {
      terminals: ["stdin"],
      io: { ask: (question) => (questions.push(question), answer) },
    });
  const declined = await ack(false);
  assertEquals(declined.code, 2);
  assertStringIncludes(
    declined.stderr,
    "confirmation_required: Cannot acknowledge: the served history is not confirmed",
  );
  assertEquals((await pin(`show ${host}`)).json, before);
  for (
    const shown of [
      /^remembered +3 events$/m,
      /^served now +2 events$/m,
      /^key +orgsign-1 {2}\S{43}$/m,
      /^difference +/m,
    ]
  ) assert(shown.test(declined.stdout), declined.stdout);
  assertEquals(questions, [
    `Accept what ${did} serves now, in place of what is remembered?`,
  ]);

  serveOnly(1);
  const [first] = (await workspace.read(FEED)).split("\n");
  const bytes = new TextEncoder().encode(`${first}\n`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const named = await ack(true, `--expect ${digest.toHex().toUpperCase()}`);
  assertEquals([named.code, questions.length], [0, 2]);
  const accepted = `Accepted the served history of ${did}: 1 event\n`;
  assertStringIncludes(named.stdout, accepted);
  const { json } = await pin(`show ${host}`);
  assertEquals(
    [json.sequence, json.incident, json.first_seen],
    [1, null, before.first_seen],
  );
  const acknowledged = json.acknowledged
    .map(({ code, reason }: Json) => [code, reason]);
  assertEquals(acknowledged, [["feed_rolled_back", "restored"]]);
  for (
    const [flag, wrong] of [
      ["--expect", `${ACK} --expect 123`],
      ["--reason", "--allow-insecure --yes"],
    ]
  ) {
    const { code, json } = await pin(`ack ${host} ${wrong}`);
    assertEquals([code, json.code, json.flag], [2, "invalid_request", flag]);
  }
});

test("without its pin the next answer is first_seen, or an error with --require-pin", async ({ check, unanswered, pin, did, host }) => {
  await check();
  assertEquals((await pin(`remove ${host}`)).json.issuer, did);
  for (const action of ["show", "remove"]) {
    const { code, json } = await pin(`${action} ${host}`);
    assertEquals([code, json.code], [2, "not_found"]);
    assertStringIncludes(json.detail, `"${did}" is not remembered`);
  }
  assertEquals((await pin("list")).json, []);
  await unanswered("--require-pin", "store_unavailable");
  assertEquals((await check()).json.continuity, "first_seen");
  assertEquals((await check("--require-pin")).code, 0);
});

test("a damaged pin can be removed, as its error suggests", async ({ check, unanswered, pin, workspace, host, did }) => {
  await check();
  await alter(workspace, "UPDATE record SET text = '{}'");
  const damaged = await unanswered("", "store_unavailable");
  assertStringIncludes(damaged.hint, "Forget the issuer with sig pin");
  const full = await unanswered("--full", "store_unavailable");
  assertEquals(full.detail, damaged.detail);
  assertEquals((await pin(`remove ${host}`)).json, { issuer: did });
  assertEquals((await check()).json.continuity, "first_seen");
});

test("pin list reports a damaged pin and lists the others", async ({ check, workspace, did }) => {
  await check();
  const broken = "did:web:broken.example";
  await alter(
    workspace,
    `INSERT INTO record VALUES ('pin', '${broken}', 'x', NULL, '{}')`,
  );
  const json = await workspace.refused("pin list --format json", []);
  const { code, detail, issuers, pins } = JSON.parse(json);
  assertEquals([code, issuers], ["store_unavailable", [broken]]);
  assertEquals(pins.map((each: Json) => each.issuer), [did]);
  assertStringIncludes(detail, `the pin of "${broken}"`);
  await workspace.says("pin list", {
    terminals: ["stdout"],
    code: 2,
    out: did,
    err: `the pin of "${broken}" is damaged`,
  });
});

test("the copy of a feed answers for an unreachable issuer within --max-age only", async ({ check, unanswered, silence }) => {
  await check();
  silence();
  const young = await check("--max-age 5m");
  assertEquals([young.code, young.json.decision], [0, "allow"]);
  assert(young.json.freshness.age_seconds > 0);
  await unanswered("", "fetch_status");
  await unanswered("--max-age 1ms", "feed_stale");
});

test("a pin store that can't be made is a warning, or an error with --require-pin", async ({ check, unanswered, workspace, host }) => {
  await workspace.write("file", "");
  for (const XDG_DATA_HOME of [undefined, workspace.path("file")]) {
    const given = { env: { XDG_DATA_HOME } };
    const { code, json } = await check("", given);
    assertEquals([code, json.continuity], [0, "unpinned"]);
    const codes = json.warnings.map((each: Json) => each.code);
    assertEquals(codes, ["memory_unavailable"]);
    const { detail } = await unanswered(
      ...["--require-pin", "store_unavailable", given] as const,
    );
    assertStringIncludes(detail, "Cannot require a pin: nothing is");
    // Without a cursor, each run begins at the feed's end, so it must warn.
    const watch = `watch ${host} --allow-insecure --once`;
    await workspace.says(watch, {
      ...given,
      stdout: "",
      err: "memory_unavailable: nothing is",
    });
  }
  const { json } = await check("--no-pin");
  assertEquals([json.continuity, json.warnings], ["unpinned", []]);
});

test("a damaged pin store is refused with its path and not changed", async ({ unanswered, workspace }) => {
  await workspace.refused(
    "pin list --pins $D",
    "it is not a file\n  hint: Name a file",
  );
  await Deno.mkdir(workspace.path("data/sig"), { recursive: true });
  const damaged = "no database at all".repeat(100);
  await workspace.write("data/sig/pins.db", damaged);
  for (const words of ["", "--pins $D/data/sig/pins.db"]) {
    const { detail, place } = await unanswered(words, "store_unavailable");
    assertEquals(place, "$D/data/sig/pins.db");
    assertStringIncludes(detail, "the file is damaged");
    assertEquals(await workspace.read("data/sig/pins.db"), damaged);
  }
});
