import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { createIssuerSite } from "./site/issuer_site.ts";
import {
  type Given,
  inWorkspace,
  type Ran,
  type Workspace,
} from "./testdata/workspace.ts";

const FEED = "acme/.well-known/sig/events.jsonl";
const ALICE = "did:web:alice.example";

interface Remembered {
  readonly workspace: Workspace;
  readonly did: string;
  /** `check` of Alice's role; its answer or its problem. */
  check(...words: string[]): Promise<Ran & { readonly json: Json }>;
  /** `sig pin`, as JSON. */
  pin(...words: string[]): Promise<Ran & { readonly json: Json }>;
  /** Appends an upsert. */
  append(subject: string): Promise<void>;
  /** Serves the feed's first lines only; all of them without a number. */
  serveOnly(lines?: number): void;
  /** Stops answering. */
  silence(): void;
}

// deno-lint-ignore no-explicit-any -- the JSON of a program, looked into by tests
type Json = any;

/** Changes the user's pin store as damage would. */
async function alter(workspace: Workspace, sql: string): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  using database = new DatabaseSync(workspace.path("data/sig/pins.db"));
  database.exec(sql);
}

/** An issuer of two people on a server, and the memory of one user. */
async function remembered(
  work: (remembered: Remembered) => Promise<void>,
): Promise<void> {
  await inWorkspace(async (workspace) => {
    const site = createIssuerSite(workspace.path("acme"));
    let lines: number | undefined;
    let isSilent = false;
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      async (request) => {
        if (isSilent) return new Response(null, { status: 503 });
        if (lines === undefined || !request.url.endsWith(".jsonl")) {
          return await site(request);
        }
        const text = await Deno.readTextFile(workspace.path(FEED));
        const body = text.split("\n").slice(0, lines).map((l) => `${l}\n`);
        return new Response(body.join(""), {
          headers: { "content-type": "application/x-ndjson" },
        });
      },
    );
    const host = `127.0.0.1:${server.addr.port}`;
    const run = async (words: readonly string[], given?: Given) => {
      const ran = await workspace.sig(words, given);
      const text = ran.stdout === "" ? ran.stderr : ran.stdout;
      return { ...ran, json: JSON.parse(text) };
    };
    const append = async (subject: string) => {
      const { code, stderr } = await workspace.sig(
        `upsert --dir $D/acme --subject ${subject} --type employee --role deploy`,
      );
      assertEquals(code, 0, stderr);
    };
    await workspace.sig(`init ${host} --dir $D/acme --allow-insecure`);
    await append(ALICE);
    await append("did:web:bob.example");
    await work({
      workspace,
      did: `did:web:127.0.0.1%3A${server.addr.port}`,
      check: (...words) =>
        run([
          ...["check", "--sig", host, "--allow-insecure", "--subject", ALICE],
          ...["--require", "role=deploy", ...words],
        ]),
      pin: (action = "list", ...words) =>
        run([
          ...["pin", action, ...action === "list" ? [] : [host]],
          ...["--format", "json", ...words],
        ]),
      append,
      serveOnly: (n) => void (lines = n),
      silence: () => void (isSilent = true),
    });
  });
}

Deno.test("a second process finds the history consistent with the pin", async () => {
  await remembered(async ({ check, pin, append, did, workspace }) => {
    const first = await check();
    assertEquals([first.code, first.json.continuity], [0, "first_seen"]);
    assertEquals(first.json.freshness.max_age_seconds, 0);
    const second = await check();
    assertEquals([second.code, second.json.continuity], [0, "consistent"]);
    await append("did:web:carol.example");
    const third = await check();
    assertEquals([third.json.last_sequence, third.json.continuity], [
      3,
      "consistent",
    ]);
    const { json } = await pin("show");
    const feed = await Deno.readFile(workspace.path(FEED));
    const digest = await crypto.subtle.digest("SHA-256", feed);
    assertEquals(Object.keys(json), [
      ...["issuer", "sequence", "bytes", "prefix_sha256", "last_event_id"],
      ...["keys", "etag", "first_seen", "last_seen", "incident"],
      "acknowledged",
      "proof",
      "key_added",
    ]);
    assertEquals(
      [json.issuer, json.sequence, json.bytes, json.prefix_sha256],
      [did, 3, feed.length, new Uint8Array(digest).toHex()],
    );
    assertEquals((await pin()).json, [json]);
    // Labels and values stand in two columns.
    const shown = await workspace.sig(["pin", "show", did]);
    const lines = shown.stdout.trimEnd().split("\n");
    assertEquals(lines.filter((line) => !/^.{10} {2}\S/.test(line)), []);
    // As private as the keys.
    const { mode } = await Deno.stat(workspace.path("data/sig/pins.db"));
    assertEquals(mode! & 0o777, 0o600);
  });
});

Deno.test("a rolled back feed is an error until the issuer serves the remembered events again", async () => {
  await remembered(async ({ check, pin, serveOnly, workspace, did }) => {
    await check();
    serveOnly(1);
    for (const words of [[], ["--full"], ["--max-age", "5m"]]) {
      const { code, stdout, json } = await check(...words);
      assertEquals([code, stdout, json.code], [2, "", "feed_rolled_back"]);
      assertEquals([json.remembered_sequence, json.fetched_sequence], [2, 1]);
    }
    const { incident, sequence } = (await pin("show")).json;
    assertEquals([incident.code, sequence], ["feed_rolled_back", 2]);
    assertStringIncludes(incident.detail, "ends at sequence 1, but 2 events");
    serveOnly();
    const { code, json } = await check();
    assertEquals([code, json.decision, json.continuity], [
      ...[0, "allow", "consistent"],
    ]);
    assertEquals(json.warnings.map((each: Json) => each.code), [
      "history_was_inconsistent",
    ]);
    assertEquals((await pin("show")).json.incident, null);
    // Answers warn of it until it is accepted, so it is shown.
    const shown = async () =>
      (await workspace.sig(["pin", "show", did])).stdout;
    const warned = "warned of   feed_rolled_back, until sig pin ack";
    assertStringIncludes(await shown(), warned);
    await pin("ack", "--allow-insecure", "--reason", "restored", "--yes");
    assertEquals((await shown()).includes("warned of"), false);
    assertEquals((await check()).json.warnings, []);
    serveOnly(1);
    const log = await workspace.sig(["log", did, "--allow-insecure"]);
    assertStringIncludes(log.stderr, "next: sig pin ack <issuer> --reason");
  });
});

Deno.test("sig pin ack is advised for a pin only, not for a cursor or an issuer directory", async () => {
  await remembered(async ({ serveOnly, workspace, did, pin, append }) => {
    const watch = ["watch", did, "--allow-insecure", "--once"];
    await workspace.sig(watch);
    serveOnly(1);
    const advised = JSON.parse((await workspace.sig(watch)).stderr);
    assertEquals(advised.code, "feed_rolled_back");
    assertStringIncludes(advised.next, "sig pin ack <issuer>");
    // The memory has it then, and the cursor still stands behind it.
    await pin("ack", "--allow-insecure", "--reason", "restored", "--yes");
    const cursor = JSON.parse((await workspace.sig(watch)).stderr);
    assertEquals(
      [cursor.code, cursor.seen_sequence, cursor.next],
      ["feed_rolled_back", 2, undefined],
    );
    // The operator's own feed, which the index beside it knows better.
    const feed = workspace.path(FEED);
    await append("did:web:carol.example");
    const [first] = (await Deno.readTextFile(feed)).split("\n");
    await Deno.writeTextFile(feed, `${first}\n`);
    const { stderr } = await workspace.sig(
      "upsert --dir $D/acme --type employee --subject did:web:dora.example --format json",
    );
    const operator = JSON.parse(stderr);
    assertEquals(
      [operator.code, operator.next],
      ["feed_rolled_back", undefined],
    );
  });
});

Deno.test("pin ack accepts only the history that it has shown and a person has confirmed", () =>
  remembered(async ({ append, check, pin, serveOnly, workspace, did }) => {
    await append("did:web:carol.example");
    await check();
    serveOnly(2);
    assertEquals((await check()).json.code, "feed_rolled_back");
    const before = (await pin("show")).json;
    const words = ["--allow-insecure", "--reason", "restored"];

    const unasked = await pin("ack", ...words);
    assertEquals([unasked.code, unasked.json.code], [
      2,
      "confirmation_required",
    ]);
    const questions: string[] = [];
    const ack = (answer: boolean, ...more: readonly string[]) =>
      workspace.sig(["pin", "ack", did, ...words, ...more], {
        terminals: ["stdin"],
        io: {
          ask(question) {
            questions.push(question);
            return answer;
          },
        },
      });
    const declined = await ack(false);
    assertEquals(declined.code, 2);
    assertStringIncludes(
      declined.stderr,
      "confirmation_required: Cannot acknowledge: the served history is not confirmed",
    );
    assertEquals((await pin("show")).json, before);
    for (
      const shown of [
        /^remembered +3 events$/m,
        /^served now +2 events$/m,
        /^key +orgsign-1 {2}\S{43}$/m,
        /^difference +/m,
      ]
    ) assertMatch(declined.stdout, shown);
    assertEquals(questions, [
      `Accept what ${did} serves now, in place of what is remembered?`,
    ]);

    // Between the incident and the acknowledgement something else is served.
    serveOnly(1);
    for (const answer of [await ack(true), await ack(true, "--yes")]) {
      assertEquals(answer.code, 2);
      assertStringIncludes(answer.stderr, "error: confirmation_required: ");
    }
    assertEquals(questions.length, 1);
    assertEquals((await pin("show")).json.sequence, 3);

    const [first] = (await Deno.readTextFile(workspace.path(FEED))).split("\n");
    const bytes = new TextEncoder().encode(`${first}\n`);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const named = await ack(true, "--expect", digest.toHex().toUpperCase());
    assertEquals([named.code, questions.length], [0, 2]);
    assertStringIncludes(
      named.stdout,
      `Accepted the served history of ${did}: 1 event\n`,
    );
    const { json } = await pin("show");
    assertEquals(
      [json.sequence, json.incident, json.first_seen],
      [1, null, before.first_seen],
    );
    const acknowledged = json.acknowledged
      .map(({ code, reason }: Json) => [code, reason]);
    assertEquals(acknowledged, [["feed_rolled_back", "restored"]]);
    const answer = await check();
    assertEquals(
      [answer.code, answer.json.last_sequence, answer.json.warnings],
      [0, 1, []],
    );
    for (
      const [flag, ...wrong] of [
        ["--expect", ...words, "--expect", "123"],
        ["--reason", "--allow-insecure", "--yes"],
      ]
    ) {
      const { code, json } = await pin("ack", ...wrong);
      assertEquals([code, json.code, json.flag], [2, "invalid_request", flag]);
    }
  }));

Deno.test("a removed pin makes the next answer first_seen, and an error with --require-pin", async () => {
  await remembered(async ({ check, pin, did }) => {
    await check();
    assertEquals((await pin("remove")).json.issuer, did);
    for (const action of ["show", "remove"]) {
      const { code, json } = await pin(action);
      assertEquals([code, json.code], [2, "not_found"]);
      assertStringIncludes(json.detail, `"${did}" is not remembered`);
    }
    assertEquals((await pin()).json, []);
    const required = await check("--require-pin");
    assertEquals([required.code, required.json.code], [2, "store_unavailable"]);
    assertEquals((await check()).json.continuity, "first_seen");
    assertEquals((await check("--require-pin")).code, 0);
  });
});

Deno.test("a damaged pin can be removed, as its error says", async () => {
  await remembered(async ({ check, pin, workspace, did }) => {
    await check();
    await alter(workspace, "UPDATE record SET text = '{}'");
    const damaged = await check();
    assertEquals([damaged.code, damaged.json.code], [2, "store_unavailable"]);
    assertStringIncludes(damaged.json.hint, "Forget the issuer with sig pin");
    const full = await check("--full");
    assertEquals([full.code, full.json.detail], [2, damaged.json.detail]);
    const removed = await pin("remove");
    assertEquals([removed.code, removed.json], [0, { issuer: did }]);
    assertEquals((await check()).json.continuity, "first_seen");
  });
});

Deno.test("a feed without stored lines is damaged until it is verified with --full", async () => {
  await remembered(async ({ append, check, workspace, did }) => {
    await check();
    await alter(workspace, "DELETE FROM feed");
    await append("did:web:carol.example");
    for (const words of [[], ["--max-age", "1h"]]) {
      const damaged = await check(...words);
      assertEquals([damaged.code, damaged.json.code], [2, "store_unavailable"]);
      assertStringIncludes(
        damaged.json.detail,
        `the list of feeds has no lines of ${did}: it is damaged`,
      );
      assertStringIncludes(damaged.json.hint, "--full");
    }
    assertEquals((await check("--full")).code, 0);
    assertEquals((await check()).code, 0);
  });
});

Deno.test("pin list names a damaged pin and lists the others", async () => {
  await remembered(async ({ check, workspace, did }) => {
    await check();
    const broken = "did:web:broken.example";
    await alter(
      workspace,
      `INSERT INTO record VALUES ('pin', '${broken}', 'x', NULL, '{}')`,
    );
    const json = await workspace.sig(["pin", "list", "--format", "json"]);
    assertEquals(json.code, 2);
    assertEquals(JSON.parse(json.stdout).map((each: Json) => each.issuer), [
      did,
    ]);
    const problem = JSON.parse(json.stderr);
    assertEquals([problem.code, problem.issuers], [
      ...["store_unavailable", [broken]],
    ]);
    assertStringIncludes(problem.detail, `the pin of "${broken}"`);
    const text = await workspace.sig(["pin", "list"], {
      terminals: ["stdout"],
    });
    assertEquals(text.code, 2);
    assertStringIncludes(text.stdout, did);
    assertStringIncludes(text.stderr, `damaged is the pin of "${broken}"`);
  });
});

Deno.test("an unreachable issuer is answered from the pin store within --max-age only", async () => {
  await remembered(async ({ check, silence }) => {
    await check();
    silence();
    const young = await check("--max-age", "5m");
    assertEquals([young.code, young.json.decision], [0, "allow"]);
    assert(young.json.freshness.age_seconds > 0);
    const now = await check();
    assertEquals([now.code, now.json.code], [2, "fetch_status"]);
    const late = await check("--max-age", "1ms");
    assertEquals([late.code, late.json.code], [2, "feed_stale"]);
  });
});

Deno.test("a pin store that can't be made is a warning, or an error with --require-pin", async () => {
  await remembered(async ({ check, workspace, did }) => {
    const env = { XDG_DATA_HOME: undefined };
    const host = decodeURIComponent(did.slice("did:web:".length));
    const words = [
      ...["check", "--sig", host, "--allow-insecure", "--subject", ALICE],
      ...["--require", "role=deploy"],
    ];
    await Deno.writeTextFile(workspace.path("file"), "");
    for (const place of [env, { XDG_DATA_HOME: workspace.path("file") }]) {
      const { code, stdout } = await workspace.sig(words, { env: place });
      const answer = JSON.parse(stdout);
      assertEquals([code, answer.continuity], [0, "unpinned"]);
      assertEquals(answer.warnings.map((each: Json) => each.code), [
        "memory_unavailable",
      ]);
      const strict = [...words, "--require-pin"];
      const refused = await workspace.sig(strict, { env: place });
      assertEquals([refused.code, refused.stdout], [2, ""]);
      const problem = JSON.parse(refused.stderr);
      assertEquals(problem.code, "store_unavailable");
      assertStringIncludes(problem.detail, "Cannot require a pin: nothing is");
      // Each look begins at the feed's end: it must not be silent about that.
      const watch = ["watch", host, "--allow-insecure", "--once"];
      const watched = await workspace.sig(watch, { env: place });
      assertEquals([watched.code, watched.stdout], [0, ""]);
      assertStringIncludes(watched.stderr, "memory_unavailable: nothing is");
    }
    const { json } = await check("--no-pin");
    assertEquals([json.continuity, json.warnings], ["unpinned", []]);
  });
});

Deno.test("a damaged pin store is refused and named, and stays as it is", async () => {
  await remembered(async ({ check, workspace }) => {
    const path = workspace.path("data/sig/pins.db");
    await Deno.mkdir(workspace.path("data/sig"), { recursive: true });
    const folder = await workspace.sig(["pin", "list", "--pins", "$D"]);
    assertEquals(folder.code, 2);
    assertStringIncludes(
      folder.stderr,
      "it is not a file\n  hint: Name a file",
    );
    const refused = async (detail: string, ...words: string[]) => {
      const before = await Deno.readFile(path);
      const { code, stdout, json } = await check(...words);
      assertEquals([code, stdout, json.code], [2, "", "store_unavailable"]);
      assertEquals(json.place, "$D/data/sig/pins.db");
      assertStringIncludes(json.detail, detail);
      assertEquals(await Deno.readFile(path), before);
    };
    await Deno.writeTextFile(path, "no database at all".repeat(100));
    await refused("the file is damaged");
    await refused("the file is damaged", "--pins", "$D/data/sig/pins.db");
  });
});
