// Processes of a server with one memory (docs/protocol.md §6).
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { listPins, openPinStore } from "@sig/consumer/pins";
import { Person } from "../../web/testdata/independent_client.ts";
import { tempFolder } from "../kit/process.ts";
import { demote, HAS_REDIS, startRedis } from "../kit/redis_server.ts";
import {
  LEAST,
  postJson,
  runToEnd,
  type ServerName,
  ServerProcess,
  SERVERS,
} from "../kit/server_process.ts";
import { openTcpSwitch } from "../kit/tcp_switch.ts";
import { ALICE, importTestKeys, PATHS } from "../kit/test_issuer.ts";
import { type WatchedIssuer, watchIssuer } from "../kit/watched_issuer.ts";
import { waitUntil } from "../kit/wait.ts";

const [key] = await importTestKeys();
assert(key);

/** What a server says about a person, by a question or by a login. */
const ASK = {
  async api(url: string, issuer: string, { did }: Person) {
    const require = ["role=deploy"];
    return await postJson(`${url}/v1/check`, { issuer, subject: did, require });
  },
  async web(url: string, _issuer: string, person: Person) {
    const auth = `${url}/v1/auth`;
    const { body: challenge } = await postJson(`${auth}/challenge/create`, {});
    return await postJson(`${auth}/attestation/verify`, {
      attestation: person.attest(challenge, Date.now()),
    });
  },
};

/** What a server needs besides to ask for the role. */
const MORE = { api: [], web: ["--require", "role=deploy"] };

/** An issuer, and processes that share what they remember of it. */
interface Processes {
  readonly issuer: WatchedIssuer;
  readonly lines: readonly string[];
  start(...args: string[]): Promise<ServerProcess>;
  /** The status, "allow" or the code, and the whole answer. */
  ask(server: ServerProcess): Promise<
    { readonly said: readonly [number, string]; readonly body: Answer }
  >;
  /** What the feed was answered with since this was called last. */
  feedAnswers(): readonly number[];
}

// deno-lint-ignore no-explicit-any -- answers of two servers
type Answer = any;

const ALLOWED: readonly [number, string] = [200, "allow"];

/** The issuer's third event gives the person the role. */
async function withProcesses(
  name: ServerName,
  pins: string,
  work: (processes: Processes) => Promise<void>,
  permissions: readonly string[] = [],
): Promise<void> {
  await using issuer = await watchIssuer(2, key!);
  await using stack = new AsyncDisposableStack();
  const { server } = issuer;
  const person = new Person();
  const line = await issuer.line(3, key!, { subject: person.did });
  const lines = [...issuer.lines, line];
  issuer.publish(lines);
  await work({
    issuer,
    lines,
    start: async (...args) =>
      stack.use(
        await ServerProcess.start(name, [
          ...["--allow-insecure", "--issuer", server.did, ...MORE[name]],
          ...["--pins", pins, ...args],
        ], { permissions: [...LEAST, ...permissions] }),
      ),
    ask: async ({ url }) => {
      const { status, body } = await ASK[name](url, server.did, person);
      const isAllowed = body.decision === "allow" ||
        body.relationship?.relationship_id === "rel-3";
      return { said: [status, isAllowed ? "allow" : body.code], body };
    },
    feedAnswers: () => {
      const all = server.of(PATHS.feed).map(({ status }) => status);
      server.exchanges.length = 0;
      return all;
    },
  });
}

/** The rules that hold over every store that processes can share. */
async function shareOneMemory(
  { issuer, lines, start, ask, feedAnswers }: Processes,
): Promise<void> {
  const [first, second] = [await start(), await start()];
  assertEquals((await ask(first)).said, ALLOWED);
  assertEquals(feedAnswers(), [200]);

  // The pin is shared; each process verifies the feed once, against it.
  const asking = await start("--max-age", "0s", "--require-pin");
  for (const each of [second, asking]) {
    const { said, body } = await ask(each);
    assertEquals(said, ALLOWED);
    if ("continuity" in body) assertEquals(body.continuity, "consistent");
    assertEquals(feedAnswers(), [200]);
  }

  // From then on it reads only what is new.
  await ask(asking);
  assertEquals(feedAnswers(), [304]);

  // One sees a rollback: none answers, though their own states are young.
  issuer.publish(lines.slice(0, 2));
  for (const each of [asking, first, second, await start()]) {
    assertEquals((await ask(each)).said, [409, "feed_rolled_back"]);
  }

  // It lasts until the history is back, for all of them.
  issuer.publish(lines);
  for (const each of [asking, first, second]) {
    const { said, body } = await ask(each);
    assertEquals(said, ALLOWED);
    const codes = body.warnings?.map(({ code }: { code: string }) => code);
    if (codes) assertEquals(codes, ["history_was_inconsistent"]);
  }
}

Deno.test("api: processes over a KV file share one memory", async () => {
  await using folder = await tempFolder();
  const { path } = folder;
  await withProcesses("api", `kv:${path}/pins.kv`, shareOneMemory, [
    ...["--unstable-kv", `--allow-read=${path}`, `--allow-write=${path}`],
  ]);
});

function redisTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_REDIS, fn });
}

for (const name of SERVERS) {
  redisTest(`${name}: processes over Redis share one memory`, async () => {
    await using redis = await startRedis();
    await withProcesses(name, redis.url, shareOneMemory);
  });

  redisTest(
    `${name}: a memory that fails over to an empty replica is a first look, and then known`,
    async () => {
      await using place = openTcpSwitch();
      await using before = await startRedis();
      await using after = await startRedis();
      place.point(before.port);
      const url = `redis://127.0.0.1:${place.port}`;
      await withProcesses(name, url, async (processes) => {
        const { issuer, start, ask, feedAnswers } = processes;
        const [usual, strict] = [await start(), await start("--require-pin")];
        for (const each of [usual, strict]) {
          assertEquals((await ask(each)).said, ALLOWED);
        }
        place.point(after.port);
        await demote(before, after);
        const missing = await ask(strict);
        assertEquals(missing.said, [503, "store_unavailable"]);
        const why = `it has no pin of ${issuer.server.did}`;
        assertStringIncludes(missing.body.detail, why);
        feedAnswers();
        // A first look, which the one that takes writes now remembers.
        const again = await ask(usual);
        assertEquals(again.said, ALLOWED);
        if ("continuity" in again.body) {
          assertEquals(again.body.continuity, "first_seen");
        }
        // Nothing is left that a conditional request could name.
        assertEquals(feedAnswers(), [200]);
        const { said, body } = await ask(await start());
        assertEquals(said, ALLOWED);
        if ("continuity" in body) assertEquals(body.continuity, "consistent");
        // It only reads, and so stays with the replica, which lags.
        await waitUntil(
          "answered",
          async () => (await ask(strict)).said[1] === "allow",
        );
      });
    },
  );

  redisTest(
    `${name}: a memory that freezes while it is needed is an error that names its place, and forgiven`,
    async () => {
      await using redis = await startRedis();
      await withProcesses(name, redis.url, async ({ issuer, start, ask }) => {
        const server = await start("--max-age", "0s");
        assertEquals((await ask(server)).said, ALLOWED);
        const { documents } = issuer.server;
        const metadata = documents.get(PATHS.metadata) as string;
        documents.set(PATHS.metadata, () => {
          Deno.kill(redis.pid, "SIGSTOP");
          return new Response(metadata);
        });
        const { said, body } = await ask(server);
        Deno.kill(redis.pid, "SIGCONT");
        assertEquals(said, [503, "store_unavailable"]);
        assertStringIncludes(body.detail, `127.0.0.1:${redis.port}`);
        documents.set(PATHS.metadata, metadata);
        assertEquals((await ask(server)).said, ALLOWED);
      });
    },
  );
}

Deno.test("an issuer that is on no list takes no room in the shared memory", async () => {
  await using temporary = await tempFolder();
  const folder = temporary.path;
  const path = `${folder}/pins.db`;
  await using listed = await watchIssuer(1, key!);
  await using other = await watchIssuer(1, key!);
  const server = await ServerProcess.start("api", [
    ...["--allow-insecure", "--any-issuer", "--issuer", listed.server.did],
    ...["--pins", path],
  ], {
    permissions: [
      ...LEAST,
      ...[`--allow-read=${folder}`, `--allow-write=${folder}`],
    ],
  });
  for (const issuer of [other, listed]) {
    const { body } = await postJson(`${server.url}/v1/check`, {
      issuer: issuer.server.did,
      ...{ subject: ALICE, require: ["role=deploy"] },
    });
    assertEquals(body.decision, "allow");
  }
  await server.stop();
  const store = await openPinStore(path);
  const pins = await listPins(store);
  await store.close();
  assertEquals(pins.map(({ issuer }) => issuer), [listed.server.did]);
});

Deno.test("where others reach a server its answers don't say where the memory is; its log does", async () => {
  await using temporary = await tempFolder();
  const folder = temporary.path;
  const path = `${folder}/pins.db`;
  await (await openPinStore(path)).close();
  await using server = await ServerProcess.start("api", [
    ...["--issuer", "acme.example", "--pins", path, "--public"],
    ...["--public-url", "https://api.acme.example"],
  ], {
    permissions: [
      ...LEAST,
      ...[`--allow-read=${folder}`, `--allow-write=${folder}`],
    ],
  });
  const file = new DatabaseSync(path);
  file.exec("DROP TABLE record");
  file.close();
  const { body: problem } = await postJson(`${server.url}/v1/check`, {
    issuer: "did:web:acme.example",
    ...{ subject: ALICE, require: ["role=deploy"] },
  });
  assertEquals([problem.status, problem.code, problem.place], [
    503,
    "store_unavailable",
    "of this server",
  ]);
  assertStringIncludes(problem.detail, "Cannot use store of this server: ");
  const { stderr } = await server.stop();
  assertStringIncludes(stderr, `Cannot use store ${path}`);
});

for (const name of SERVERS) {
  Deno.test(`${name}: a memory that can't be used stops the start, with its place`, async () => {
    const { code, stderr } = await runToEnd(name, [
      ...["--addr", "127.0.0.1:0", "--pins", "redis://127.0.0.1:1"],
    ]);
    assertEquals(code, 2);
    assertStringIncludes(stderr, "store_unavailable: Cannot use store");
    assertStringIncludes(stderr, "127.0.0.1:1");
    const alone = await runToEnd(name, ["--require-pin"]);
    assertEquals(alone.code, 2);
    assertStringIncludes(alone.stderr, "--require-pin goes with --pins");
  });
}
