import { openStore, type RecordStore } from "@sig/consumer/store";
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
import { verifyAll } from "./testdata/verify_worker.ts";

// promise: Exactly one of any number of concurrent answers to a challenge
//   succeeds, with every store.

const CHALLENGES = 20;
const PARALLEL = 100;

for (const driver of ["KV file", "Redis"]) {
  Deno.test({
    name: `${driver}: a challenge is used once`,
    ignore: driver === "Redis" && !HAS_REDIS,
    async fn(t) {
      await using folder = await tempFolder();
      await using redis = driver === "Redis" ? await startRedis() : undefined;
      const storeText = redis?.url ?? `kv:${folder.path}/challenges.db`;
      const store = await openStore(storeText);
      const once = await prepare(store, CHALLENGES);
      const answer = Array.from(
        { length: PARALLEL },
        (_, i) => once[i % CHALLENGES]!,
      );
      const die = await prepare(store, 1);
      const file = `${folder.path}/attestations.json`;
      await Deno.writeTextFile(file, JSON.stringify({ answer, die }));
      const child = await startWorker([storeText, file]);
      await t.step(
        `W1: ${CHALLENGES} challenges verified by 2 processes × ${PARALLEL} calls succeed once each`,
        async () => {
          await child.write("\0");
          const own = await verifyAll(store, answer);
          const [others] = await child.said(/\[.*\]\n/);
          const outcomes = [...own, ...JSON.parse(others) as string[]];
          const won = outcomes.filter((each) => each.startsWith("verified"));
          assertEquals(won.length, CHALLENGES, outcomes.join("\n"));
          assertEquals(new Set(won).size, CHALLENGES);
          assertEquals(
            outcomes.filter((each) => each === "challenge_used").length,
            2 * PARALLEL - CHALLENGES,
            outcomes.join("\n"),
          );
        },
      );
      await t.step(
        "W6: it stays used if the process is killed before it responds",
        async () => {
          await child.write("\0");
          assertEquals((await child.ended()).signal, "SIGKILL");
          assertEquals(await verifyAll(store, die), ["challenge_used"]);
        },
      );
      await store.close();
    },
  });
}

/** Creates challenges and returns valid attestations. */
async function prepare(store: RecordStore, count: number): Promise<string[]> {
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
  return attestations;
}

/** Starts another process, which waits for a byte. */
async function startWorker(args: readonly string[]): Promise<TestProcess> {
  const entry = new URL("./testdata/verify_worker.ts", import.meta.url);
  const run = ["run", "--quiet", "-A", "--no-check", "--unstable-kv"];
  const child = new TestProcess(
    Deno.execPath(),
    [...run, entry.pathname, ...args],
    { stdin: "open" },
  );
  await child.said("ready\n");
  return child;
}
