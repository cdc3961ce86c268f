// Replicas of the API with one memory (docs/protocol.md §6).
import { assertEquals, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { listPins, openPinStore } from "@sig/consumer/pins";
import {
  demote,
  HAS_REDIS,
  startRedis,
  whileFrozen,
} from "../kit/redis_server.ts";
import { LEAST, runToEnd, ServerProcess } from "../kit/server_process.ts";
import { openTcpSwitch } from "../kit/tcp_switch.ts";
import { ALICE, importTestKeys, PATHS } from "../kit/test_issuer.ts";
import { type WatchedIssuer, watchIssuer } from "../kit/watched_issuer.ts";
import { waitUntil } from "../kit/wait.ts";

const [key] = await importTestKeys();

type Issuer = WatchedIssuer & { readonly lines: readonly string[] };

/** Asks a replica whether Alice may deploy; the status and the answer. */
async function check(
  { url }: ServerProcess,
  { server }: Issuer,
  path = "/v1/check",
) {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      issuer: server.did,
      ...path === "/v1/check"
        ? { subject: ALICE, require: ["role=deploy"] }
        : {},
    }),
  });
  const body = await response.json();
  return { status: response.status, body, code: body.code as string };
}

/** What the feed was answered with since it was asked last. */
function feedAnswers({ server }: Issuer): readonly number[] {
  const all = server.of(PATHS.feed).map(({ status }) => status);
  server.exchanges.length = 0;
  return all;
}

/** Three replicas with one memory, and a way to start more of them. */
async function withReplicas(
  pins: string,
  permissions: readonly string[],
  work: (replicas: {
    readonly issuer: Issuer;
    readonly all: readonly ServerProcess[];
    more(...args: string[]): Promise<ServerProcess>;
  }) => Promise<void>,
): Promise<void> {
  await using issuer = await watchIssuer(3, key!);
  await using stack = new AsyncDisposableStack();
  const more = async (...args: string[]) =>
    stack.use(
      await ServerProcess.start("api", [
        ...["--allow-insecure", "--issuer", issuer.server.did],
        ...["--pins", pins, ...args],
      ], { permissions: [...LEAST, ...permissions] }),
    );
  await work({
    issuer,
    all: [await more(), await more(), await more()],
    more,
  });
}

/** The rules that hold over every store that processes can share. */
async function shareOneMemory(
  pins: string,
  permissions: readonly string[],
): Promise<void> {
  await withReplicas(pins, permissions, async ({ issuer, all, more }) => {
    const [first, ...others] = all;
    const seen = await check(first!, issuer);
    assertEquals([seen.status, seen.body.decision], [200, "allow"]);
    assertEquals(feedAnswers(issuer), [200]);

    // The pin is shared; each process verifies the feed once, against it.
    const asking = await more("--max-age", "0s", "--require-pin");
    for (const each of [...others, asking]) {
      const { body } = await check(each, issuer);
      assertEquals([body.decision, body.continuity], ["allow", "consistent"]);
    }
    assertEquals(feedAnswers(issuer), [200, 200, 200]);

    // From then on it reads only what is new.
    await check(asking, issuer);
    assertEquals(feedAnswers(issuer), [304]);

    // One sees a rollback: none answers, though their own states are young.
    issuer.publish(issuer.lines.slice(0, 2));
    const report = await check(first!, issuer, "/v1/verify");
    assertEquals(report.body.errors?.[0]?.code, "feed_rolled_back");
    for (const each of [...all, asking, await more()]) {
      assertEquals((await check(each, issuer)).code, "feed_rolled_back");
    }

    // It lasts until the history is back, for all of them.
    issuer.publish(issuer.lines);
    for (const each of all) {
      const { body } = await check(each, issuer);
      assertEquals(body.decision, "allow");
      const codes = body.warnings.map((each: { code: string }) => each.code);
      assertEquals(codes, ["history_was_inconsistent"]);
    }
  });
}

Deno.test("three replicas over a KV file share one memory", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await shareOneMemory(`kv:${folder}/pins.kv`, [
      ...["--unstable-kv", `--allow-read=${folder}`],
      `--allow-write=${folder}`,
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test({
  name: "three replicas over Redis share one memory",
  ignore: !HAS_REDIS,
  async fn() {
    const redis = await startRedis();
    try {
      await shareOneMemory(redis.url, []);
    } finally {
      await redis.stop();
    }
  },
});

Deno.test({
  name:
    "a memory that vanished is a first look, and an error with --require-pin",
  ignore: !HAS_REDIS,
  async fn() {
    let redis = await startRedis();
    try {
      await withReplicas(redis.url, [], async ({ issuer, all, more }) => {
        await check(all[0]!, issuer);
        const strict = await more("--require-pin");
        assertEquals((await check(strict, issuer)).body.decision, "allow");
        await redis.stop();
        redis = await startRedis([], redis.port);
        const refused = await check(strict, issuer);
        assertEquals([refused.status, refused.code], [
          503,
          "store_unavailable",
        ]);
        assertStringIncludes(
          refused.body.detail,
          `it has no pin of ${issuer.server.did}`,
        );
        for (const [i, each] of all.entries()) {
          const { body } = await check(each, issuer);
          assertEquals([body.decision, body.continuity], [
            "allow",
            i === 0 ? "first_seen" : "consistent",
          ]);
        }
      });
    } finally {
      await redis.stop();
    }
  },
});

Deno.test({
  name:
    "a memory that fails over to an empty replica is a first look, and then known",
  ignore: !HAS_REDIS,
  async fn() {
    await using place = openTcpSwitch();
    const before = await startRedis();
    const after = await startRedis();
    place.point(before.port);
    const url = `redis://127.0.0.1:${place.port}`;
    try {
      await withReplicas(url, [], async ({ issuer, all, more }) => {
        for (const each of all) await check(each, issuer);
        const strict = await more("--require-pin");
        assertEquals((await check(strict, issuer)).status, 200);
        place.point(after.port);
        await demote(before, after);
        assertEquals((await check(strict, issuer)).code, "store_unavailable");
        feedAnswers(issuer);
        // Those that still read the replica, which lags, may fetch it again as well.
        for (const each of all) {
          const { body } = await check(each, issuer);
          assertEquals(body.decision, "allow", body.detail);
        }
        assertEquals(feedAnswers(issuer)[0], 200);
        const { body } = await check(await more(), issuer);
        assertEquals([body.decision, body.continuity], [
          ...["allow", "consistent"],
        ]);
        // It only reads, and so stays with the replica.
        const decision = await waitUntil(
          "answered",
          async () => (await check(strict, issuer)).body.decision,
        );
        assertEquals(decision, "allow");
      });
    } finally {
      await Promise.all([before.stop(), after.stop()]);
    }
  },
});

Deno.test({
  name: "a memory that does not answer is an error that names its place",
  ignore: !HAS_REDIS,
  async fn() {
    const redis = await startRedis();
    try {
      await withReplicas(redis.url, [], async ({ issuer, all }) => {
        await check(all[0]!, issuer);
        const { status, code, body } = await whileFrozen(
          redis,
          () => check(all[0]!, issuer),
        );
        assertEquals([status, code], [503, "store_unavailable"]);
        assertStringIncludes(body.detail, `127.0.0.1:${redis.port}`);
        assertEquals((await check(all[0]!, issuer)).body.decision, "allow");
      });
    } finally {
      await redis.stop();
    }
  },
});

Deno.test("an issuer that is on no list takes no room in the shared memory", async () => {
  const folder = await Deno.makeTempDir();
  try {
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
      assertEquals((await check(server, issuer)).body.decision, "allow");
    }
    await server.stop();
    const store = await openPinStore(path);
    const pins = await listPins(store);
    await store.close();
    assertEquals(pins.map(({ issuer }) => issuer), [listed.server.did]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("where others reach a server its answers don't say where the memory is; its log does", async () => {
  const folder = await Deno.makeTempDir();
  try {
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
    const response = await fetch(`${server.url}/v1/check`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        issuer: "did:web:acme.example",
        ...{ subject: ALICE, require: ["role=deploy"] },
      }),
    });
    const problem = await response.json();
    assertEquals([problem.status, problem.code, problem.place], [
      503,
      "store_unavailable",
      "of this server",
    ]);
    assertStringIncludes(problem.detail, "Cannot use store of this server: ");
    const { stderr } = await server.stop();
    assertStringIncludes(stderr, `Cannot use store ${path}`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

for (const name of ["api", "web"] as const) {
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
