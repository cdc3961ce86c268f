import { openStore } from "@sig/consumer/store";
import { assertEquals } from "@std/assert";
import {
  generateSigningKey,
  importSigningKey,
  signAttestation,
} from "@sig/jose";
import { HAS_REDIS, startRedis } from "../../tests/kit/redis_server.ts";
import { challengesIn } from "./challenges.ts";
import { createChallenge } from "./create_challenge.ts";
import { tempFolder, TestProcess } from "../../tests/kit/process.ts";

// promise: Of concurrent answers to a challenge exactly one succeeds, with
//   every store.

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

/** Creates challenges and returns valid attestations. */
async function prepare(
  { storeText }: Arena,
  count: number,
): Promise<string[]> {
  const store = await openStore(storeText);
  const now = () => new Date();
  const attestations: string[] = [];
  for (let i = 0; i < count; i++) {
    const challenge = await createChallenge({}, {
      challenges: challengesIn(store),
      audiences: ["https://shop.example"],
      now,
    });
    const key = await importSigningKey(await generateSigningKey());
    attestations.push(await signAttestation({ challenge, key, now }));
  }
  await store.close();
  return attestations;
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
    () => worker([storeText, file, mode]),
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

function worker(args: readonly string[]): TestProcess {
  const entry = new URL("./testdata/verify_worker.ts", import.meta.url);
  const run = ["run", "--quiet", "-A", "--no-check", "--unstable-kv"];
  return new TestProcess(Deno.execPath(), [...run, entry.pathname, ...args], {
    stdin: "open",
  });
}
