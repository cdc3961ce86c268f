import { assertEquals } from "@std/assert";
import {
  generateSigningKey,
  importSigningKey,
  signAttestation,
} from "@sig/jose";
import { HAS_REDIS, startRedis } from "../../tests/kit/redis_server.ts";
import type { Challenge } from "./create_challenge.ts";
import { LoginFixture } from "./testdata/login_fixture.ts";

const CHALLENGES = 20;
const PROCESSES = 2;
const PARALLEL = 100;

/** Where a race takes place. */
interface Arena {
  readonly storeText: string;
  readonly folder: string;
  readonly close: () => Promise<void>;
}

async function kvArena(): Promise<Arena> {
  const folder = await Deno.makeTempDir();
  return {
    folder,
    storeText: `kv:${folder}/challenges.db`,
    close: () => Deno.remove(folder, { recursive: true }),
  };
}

async function redisArena(): Promise<Arena> {
  const folder = await Deno.makeTempDir();
  const redis = await startRedis();
  return {
    folder,
    storeText: redis.url,
    async close() {
      await redis.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const ARENAS = [
  { driver: "KV file", open: kvArena, ignore: false },
  { driver: "Redis", open: redisArena, ignore: !HAS_REDIS },
];

for (const { driver, open, ignore } of ARENAS) {
  Deno.test({
    name:
      `W1, ${driver}: ${PROCESSES} processes × ${PARALLEL} verifications of ${CHALLENGES} challenges, one success each`,
    ignore,
    async fn() {
      const arena = await open();
      try {
        const attestations = await prepare(arena, CHALLENGES);
        const repeated = Array.from(
          { length: PARALLEL },
          (_, i) => attestations[i % CHALLENGES]!,
        );
        const outcomes = (await race(arena, repeated, PROCESSES)).flat();
        const verified = outcomes.filter((each) => each.startsWith("verified"));
        assertEquals(verified.length, CHALLENGES, outcomes.join("\n"));
        assertEquals(new Set(verified).size, CHALLENGES);
        assertEquals(
          outcomes.filter((each) => each === "challenge_used").length,
          PROCESSES * PARALLEL - CHALLENGES,
          outcomes.join("\n"),
        );
      } finally {
        await arena.close();
      }
    },
  });

  Deno.test({
    name:
      `W6, ${driver}: a process killed before it could answer has used the challenge`,
    ignore,
    async fn() {
      const arena = await open();
      try {
        const attestations = await prepare(arena, 1);
        assertEquals(await race(arena, attestations, 1, "die"), [[]]);
        assertEquals(await race(arena, attestations, 1), [["challenge_used"]]);
      } finally {
        await arena.close();
      }
    },
  });
}

Deno.test("W1, memory: of 100 parallel verifications one succeeds", async () => {
  const login = await LoginFixture.make();
  const attestation = await login.attest(await login.create());
  const outcomes = await Promise.allSettled(
    Array.from({ length: 100 }, () => login.verify(attestation)),
  );
  const failures = outcomes.flatMap((each) =>
    each.status === "rejected" ? [each.reason.code] : []
  );
  assertEquals(failures, Array(99).fill("challenge_used"));
});

Deno.test("W6, memory: another process knows nothing of a challenge", async () => {
  const login = await LoginFixture.make();
  const attestation = await login.attest(await login.create());
  const restarted = await LoginFixture.make();
  const outcome = await restarted.verify(attestation).catch((error) => error);
  assertEquals(outcome.code, "challenge_not_found");
  assertEquals(
    outcome.message,
    "Cannot accept attestation: its challenge is not known (any more)",
  );
});

/** Challenges made by a process of its own, and their honest answers. */
async function prepare(
  { storeText }: Arena,
  count: number,
): Promise<string[]> {
  const creator = worker("create_worker.ts", [storeText, `${count}`]).spawn();
  await creator.stdin.close();
  const { stdout, success } = await creator.output();
  assertEquals(success, true);
  const challenges: readonly Challenge[] = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  return await Promise.all(challenges.map(async (challenge) => {
    const key = await importSigningKey(await generateSigningKey());
    return await signAttestation({ challenge, key, now: () => new Date() });
  }));
}

/** Starts processes, lets them all go at once, and returns their outcomes. */
async function race(
  { storeText, folder }: Arena,
  attestations: readonly string[],
  processes: number,
  mode = "answer",
): Promise<readonly string[][]> {
  const file = `${folder}/attestations.json`;
  await Deno.writeTextFile(file, JSON.stringify(attestations));
  const children = Array.from(
    { length: processes },
    () => worker("verify_worker.ts", [storeText, file, mode]).spawn(),
  );
  const readers = children.map((child) =>
    child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  );
  for (const reader of readers) {
    assertEquals((await reader.read()).value, "ready\n");
  }
  for (const child of children) {
    const writer = child.stdin.getWriter();
    await writer.write(new Uint8Array(1));
    await writer.close();
  }
  return await Promise.all(children.map(async (child, i) => {
    let text = "";
    for (;;) {
      const { value, done } = await readers[i]!.read();
      if (done) break;
      text += value;
    }
    const { signal } = await child.status;
    assertEquals(signal, mode === "die" ? "SIGKILL" : null);
    return text === "" ? [] : JSON.parse(text);
  }));
}

function worker(file: string, args: readonly string[]): Deno.Command {
  const entry = new URL(`./testdata/${file}`, import.meta.url).pathname;
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "-A",
      "--no-check",
      "--unstable-kv",
      entry,
      ...args,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  });
}
