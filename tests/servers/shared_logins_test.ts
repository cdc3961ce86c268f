// Logins at several processes with one memory (docs/protocol.md §6).
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Person } from "../../web/testdata/independent_client.ts";
import {
  demote,
  HAS_REDIS,
  startRedis,
  type TestRedis,
} from "../kit/redis_server.ts";
import { ServerProcess } from "../kit/server_process.ts";
import { openTcpSwitch } from "../kit/tcp_switch.ts";
import { importTestKeys, PATHS } from "../kit/test_issuer.ts";
import { type WatchedIssuer, watchIssuer } from "../kit/watched_issuer.ts";

const [key] = await importTestKeys();
assert(key);

/** The person is logged in, by the event that is about them. */
const IN = [200, "rel-3"];

interface Company {
  readonly issuer: WatchedIssuer;
  readonly lines: readonly string[];
  readonly person: Person;
  /** Starts a login that remembers the issuer in a Redis. */
  login(
    redis: Pick<TestRedis, "port">,
    ...args: string[]
  ): Promise<ServerProcess>;
}

/** An issuer whose third event is about a person that logs in. */
async function withCompany(
  work: (company: Company) => Promise<void>,
): Promise<void> {
  await using issuer = await watchIssuer(2, key!);
  await using stack = new AsyncDisposableStack();
  const person = new Person();
  const line = await issuer.line(3, key!, { subject: person.did });
  const lines = [...issuer.lines, line];
  issuer.publish(lines);
  const login = async ({ port }: Pick<TestRedis, "port">, ...args: string[]) =>
    stack.use(
      await ServerProcess.start("web", [
        ...["--allow-insecure", "--issuer", issuer.server.did],
        ...[
          "--require",
          "role=deploy",
          "--pins",
          `redis://127.0.0.1:${port}`,
          ...args,
        ],
      ]),
    );
  await work({ issuer, lines, person, login });
}

async function post(url: string, body: unknown) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

/** Logs the person in; the status, and what vouches for them or the code. */
async function logIn({ url }: ServerProcess, person: Person) {
  const auth = `${url}/v1/auth`;
  const { body: challenge } = await post(`${auth}/challenge/create`, {});
  const { status, body } = await post(`${auth}/attestation/verify`, {
    attestation: person.attest(challenge, Date.now()),
  });
  return {
    seen: [status, body.relationship?.relationship_id ?? body.code],
    body,
  };
}

/** What the feed was answered with since it was asked last. */
function feedAnswers({ server }: WatchedIssuer): readonly number[] {
  const all = server.of(PATHS.feed).map(({ status }) => status);
  server.exchanges.length = 0;
  return all;
}

Deno.test({
  name: "what one login has seen of the issuer counts at another",
  ignore: !HAS_REDIS,
  async fn() {
    const redis = await startRedis();
    try {
      await withCompany(async ({ issuer, lines, person, login }) => {
        const [first, second] = [await login(redis), await login(redis)];
        assertEquals((await logIn(first, person)).seen, IN);
        assertEquals(feedAnswers(issuer), [200]);

        // A new one verifies the feed once, and compares it with the pin.
        const fresh = await login(redis, "--require-pin");
        assertEquals((await logIn(fresh, person)).seen, IN);
        assertEquals(feedAnswers(issuer), [200]);
        assertEquals((await logIn(fresh, person)).seen, IN);
        assertEquals(feedAnswers(issuer), [304]);

        // One sees a rollback; the other has never seen more than that feed.
        issuer.publish(lines.slice(0, 2));
        for (const each of [first, second, await login(redis)]) {
          const { seen } = await logIn(each, person);
          assertEquals(seen, [409, "feed_rolled_back"]);
        }
        issuer.publish(lines);
        assertEquals((await logIn(second, person)).seen, IN);
      });
    } finally {
      await redis.stop();
    }
  },
});

Deno.test({
  name: "a memory that was emptied stops no login, but one with --require-pin",
  ignore: !HAS_REDIS,
  async fn() {
    let redis = await startRedis();
    try {
      await withCompany(async ({ issuer, person, login }) => {
        const usual = await login(redis);
        assertEquals((await logIn(usual, person)).seen, IN);
        const strict = await login(redis, "--require-pin");
        assertEquals((await logIn(strict, person)).seen, IN);
        await redis.stop();
        redis = await startRedis([], redis.port);
        const { seen, body } = await logIn(strict, person);
        assertEquals(seen, [503, "store_unavailable"]);
        assertStringIncludes(
          body.detail,
          `it has no pin of ${issuer.server.did}`,
        );
        feedAnswers(issuer);
        assertEquals((await logIn(usual, person)).seen, IN);
        // A first look: nothing is left that a conditional request could name.
        assertEquals(feedAnswers(issuer), [200]);
        assertEquals((await logIn(strict, person)).seen, IN);
      });
    } finally {
      await redis.stop();
    }
  },
});

Deno.test({
  name: "a memory that fails over to an empty replica stops no login",
  ignore: !HAS_REDIS,
  async fn() {
    await using place = openTcpSwitch();
    const before = await startRedis();
    const after = await startRedis();
    place.point(before.port);
    try {
      await withCompany(async ({ issuer, person, login }) => {
        const web = await login(place);
        assertEquals((await logIn(web, person)).seen, IN);
        place.point(after.port);
        await demote(before, after);
        feedAnswers(issuer);
        assertEquals((await logIn(web, person)).seen, IN);
        // A first look, which the one that takes writes now remembers.
        assertEquals(feedAnswers(issuer), [200]);
        assertEquals((await logIn(web, person)).seen, IN);
        assertEquals(feedAnswers(issuer), [304]);
      });
    } finally {
      await Promise.all([before.stop(), after.stop()]);
    }
  },
});

Deno.test({
  name: "a memory that freezes during a login is told, and forgiven",
  ignore: !HAS_REDIS,
  async fn() {
    const redis = await startRedis();
    try {
      await withCompany(async ({ issuer, person, login }) => {
        const web = await login(redis);
        assertEquals((await logIn(web, person)).seen, IN);
        const { documents } = issuer.server;
        const metadata = documents.get(PATHS.metadata) as string;
        documents.set(PATHS.metadata, () => {
          Deno.kill(redis.pid, "SIGSTOP");
          return new Response(metadata);
        });
        const { seen, body } = await logIn(web, person);
        Deno.kill(redis.pid, "SIGCONT");
        assertEquals(seen, [503, "store_unavailable"]);
        assertStringIncludes(body.detail, `127.0.0.1:${redis.port}`);
        documents.set(PATHS.metadata, metadata);
        assertEquals((await logIn(web, person)).seen, IN);
      });
    } finally {
      await redis.stop();
    }
  },
});
