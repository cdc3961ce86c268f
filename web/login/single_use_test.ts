import { assertEquals } from "@std/assert";
import {
  generateSigningKey,
  importSigningKey,
  signAttestation,
} from "@sig/jose";
import { HAS_REDIS, startRedis } from "../../tests/kit/redis_server.ts";
import type { Challenge } from "./create_challenge.ts";
import { tempFolder, TestProcess } from "../../tests/kit/process.ts";

const CHALLENGES = 20;
const PROCESSES = 2;
const PARALLEL = 100;

/** The store and folder of a race. */
interface Arena {
  readonly storeText: string;
  readonly folder: string;
}

async function inArena(
  driver: string,
  work: (arena: Arena) => Promise<void>,
): Promise<void> {
  await using folder = await tempFolder();
  await using redis = driver === "Redis" ? await startRedis() : undefined;
  const storeText = redis?.url ?? `kv:${folder.path}/challenges.db`;
  await work({ folder: folder.path, storeText });
}

for (const driver of ["KV file", "Redis"]) {
  const ignore = driver === "Redis" && !HAS_REDIS;
  Deno.test({
    name:
      `W1, ${driver}: ${CHALLENGES} challenges verified by ${PROCESSES} processes × ${PARALLEL} calls succeed once each`,
    ignore,
    fn: () =>
      inArena(driver, async (arena) => {
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
      }),
  });

  Deno.test({
    name:
      `W6, ${driver}: a challenge stays used if the process is killed before it responds`,
    ignore,
    fn: () =>
      inArena(driver, async (arena) => {
        const attestations = await prepare(arena, 1);
        assertEquals(await race(arena, attestations, 1, "die"), [[]]);
        assertEquals(await race(arena, attestations, 1), [["challenge_used"]]);
      }),
  });
}

/** Creates challenges in a separate process and returns valid attestations. */
async function prepare(
  { storeText }: Arena,
  count: number,
): Promise<string[]> {
  await using creator = worker("create_worker.ts", [storeText, `${count}`]);
  const { code, stdout, stderr } = await creator.ended();
  assertEquals(code, 0, stderr);
  const challenges: readonly Challenge[] = JSON.parse(stdout);
  return await Promise.all(challenges.map(async (challenge) => {
    const key = await importSigningKey(await generateSigningKey());
    return await signAttestation({ challenge, key, now: () => new Date() });
  }));
}

/**
 * Starts processes, lets them verify concurrently, and returns their results.
 */
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
    () => worker("verify_worker.ts", [storeText, file, mode]),
  );
  for (const child of children) await child.said("ready\n");
  for (const child of children) await child.write("\0");
  return await Promise.all(children.map(async (child) => {
    const { signal, stdout, stderr } = await child.ended();
    assertEquals(signal, mode === "die" ? "SIGKILL" : null, stderr);
    const text = stdout.slice("ready\n".length);
    return text === "" ? [] : JSON.parse(text);
  }));
}

function worker(file: string, args: readonly string[]): TestProcess {
  const entry = new URL(`./testdata/${file}`, import.meta.url).pathname;
  const run = ["run", "--quiet", "-A", "--no-check", "--unstable-kv"];
  return new TestProcess(Deno.execPath(), [...run, entry, ...args], {
    stdin: "open",
  });
}
