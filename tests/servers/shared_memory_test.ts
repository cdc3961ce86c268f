// Processes of a server that share one pin store (docs/protocol.md §6).
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { listPins, openPinStore } from "@sig/consumer/pins";
import { Person } from "../../web/testdata/independent_client.ts";
import { tempFolder } from "../kit/process.ts";
import { demote, HAS_REDIS, startRedis } from "../kit/redis_server.ts";
import {
  askJson,
  LEAST,
  type ServerName,
  ServerProcess,
} from "../kit/server_process.ts";
import { openTcpSwitch } from "../kit/tcp_switch.ts";
import { ALICE, importTestKeys, PATHS } from "../kit/test_issuer.ts";
import { type WatchedIssuer, watchIssuer } from "../kit/watched_issuer.ts";
import { waitUntil } from "../kit/wait.ts";

// promise: All replicas refuse a contradiction that one has seen.

const [key] = await importTestKeys();
assert(key);

/** Returns the server's decision about a person, from a question or a login. */
const ASK = {
  async api(url: string, issuer: string, { did }: Person) {
    const require = ["role=deploy"];
    return await askJson(`${url}/v1/check`, { issuer, subject: did, require });
  },
  async web(url: string, _issuer: string, person: Person) {
    const auth = `${url}/v1/auth`;
    const { body: challenge } = await askJson(`${auth}/challenge/create`, {});
    return await askJson(`${auth}/attestation/verify`, {
      attestation: person.attest(challenge, Date.now()),
    });
  },
};

/** Arguments with which a server requires the role. */
const ROLE_ARGS = { api: [], web: ["--require", "role=deploy"] };

/** An issuer, and server processes that share a pin store. */
interface Processes {
  readonly issuer: WatchedIssuer;
  readonly lines: readonly string[];
  start(...args: string[]): Promise<ServerProcess>;
  /** Returns the status with "allow" or the code, and the whole response. */
  ask(server: ServerProcess): Promise<
    { readonly outcome: readonly [number, string]; readonly body: Answer }
  >;
  /** Returns the statuses of the feed's responses since the last call. */
  feedAnswers(): readonly number[];
}

// deno-lint-ignore no-explicit-any -- answers of two servers
type Answer = any;

const ALLOWED: readonly [number, string] = [200, "allow"];

/** Publishes an issuer whose third event gives the person the role. */
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
          ...["--allow-insecure", "--issuer", server.did, ...ROLE_ARGS[name]],
          ...["--pins", pins, ...args],
        ], { permissions: [...LEAST, ...permissions] }),
      ),
    ask: async ({ url }) => {
      const { status, body } = await ASK[name](url, server.did, person);
      const isAllowed = body.decision === "allow" ||
        body.relationship?.relationship_id === "rel-3";
      return { outcome: [status, isAllowed ? "allow" : body.code], body };
    },
    feedAnswers: () => {
      const all = server.of(PATHS.feed).map(({ status }) => status);
      server.exchanges.length = 0;
      return all;
    },
  });
}

/** Checks the rules for every store that processes can share. */
async function sharePinStore(
  { issuer, lines, start, ask, feedAnswers }: Processes,
): Promise<void> {
  const [first, second] = [await start(), await start()];
  assertEquals((await ask(first)).outcome, ALLOWED);
  assertEquals(feedAnswers(), [200]);

  // The pin is shared. Each process verifies the feed once and compares it with
  // the pin.
  const asking = await start("--max-age", "0s", "--require-pin");
  for (const each of [second, asking]) {
    const { outcome, body } = await ask(each);
    assertEquals(outcome, ALLOWED);
    if ("continuity" in body) assertEquals(body.continuity, "consistent");
    assertEquals(feedAnswers(), [200]);
  }

  // After that, it fetches only new events.
  await ask(asking);
  assertEquals(feedAnswers(), [304]);

  // After one process sees a rollback, none answers, even with a recent state.
  issuer.publish(lines.slice(0, 2));
  for (const each of [asking, first, second, await start()]) {
    assertEquals((await ask(each)).outcome, [409, "feed_rolled_back"]);
  }

  // The error lasts for all processes until the history is restored.
  issuer.publish(lines);
  for (const each of [asking, first, second]) {
    const { outcome, body } = await ask(each);
    assertEquals(outcome, ALLOWED);
    const codes = body.warnings?.map(({ code }: { code: string }) => code);
    if (codes) assertEquals(codes, ["history_was_inconsistent"]);
  }
}

Deno.test("api: processes share a pin store in a KV file", async () => {
  await using folder = await tempFolder();
  const { path } = folder;
  await withProcesses("api", `kv:${path}/pins.kv`, sharePinStore, [
    ...["--unstable-kv", `--allow-read=${path}`, `--allow-write=${path}`],
  ]);
});

function redisTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_REDIS, fn });
}

redisTest("web: processes share a pin store in Redis", async () => {
  await using redis = await startRedis();
  await withProcesses("web", redis.url, sharePinStore);
});

redisTest(
  "api: after a failover to an empty replica, the issuer is seen for the first time and pinned again",
  async () => {
    await using place = openTcpSwitch();
    await using before = await startRedis();
    await using after = await startRedis();
    place.point(before.port);
    const url = `redis://127.0.0.1:${place.port}`;
    await withProcesses("api", url, async (processes) => {
      const { issuer, start, ask, feedAnswers } = processes;
      const [usual, strict] = [await start(), await start("--require-pin")];
      for (const each of [usual, strict]) {
        assertEquals((await ask(each)).outcome, ALLOWED);
      }
      place.point(after.port);
      await demote(before, after);
      const missing = await ask(strict);
      assertEquals(missing.outcome, [503, "store_unavailable"]);
      const why = `it has no pin of ${issuer.server.did}`;
      assertStringIncludes(missing.body.detail, why);
      feedAnswers();
      // The process that may create pins treats the issuer as first seen, and
      // pins it.
      const again = await ask(usual);
      assertEquals(again.outcome, ALLOWED);
      if ("continuity" in again.body) {
        assertEquals(again.body.continuity, "first_seen");
      }
      // The process has no entity tag left for a conditional request.
      assertEquals(feedAnswers(), [200]);
      const { outcome, body } = await ask(await start());
      assertEquals(outcome, ALLOWED);
      if ("continuity" in body) assertEquals(body.continuity, "consistent");
      // This process only reads, and stays connected to the replica, which is
      // behind.
      await waitUntil(
        "answered",
        async () => (await ask(strict)).outcome[1] === "allow",
      );
    });
  },
);

redisTest(
  "web: a pin store that freezes during a request gives an error with its address, and later requests succeed",
  async () => {
    await using redis = await startRedis();
    await withProcesses("web", redis.url, async ({ issuer, start, ask }) => {
      const server = await start("--max-age", "0s");
      assertEquals((await ask(server)).outcome, ALLOWED);
      const { documents } = issuer.server;
      const metadata = documents.get(PATHS.metadata) as string;
      documents.set(PATHS.metadata, () => {
        Deno.kill(redis.pid, "SIGSTOP");
        return new Response(metadata);
      });
      const { outcome, body } = await ask(server);
      Deno.kill(redis.pid, "SIGCONT");
      assertEquals(outcome, [503, "store_unavailable"]);
      assertStringIncludes(body.detail, `127.0.0.1:${redis.port}`);
      documents.set(PATHS.metadata, metadata);
      assertEquals((await ask(server)).outcome, ALLOWED);
    });
  },
);

Deno.test("an unlisted issuer is not stored in the shared pin store", async () => {
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
    const { body } = await askJson(`${server.url}/v1/check`, {
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
