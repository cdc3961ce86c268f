/**
 * Verifies many attestations concurrently, in this process or as another one.
 * Arguments of the process: the store; a file with the attestations as a JSON
 * array; `answer`, or `die` to be killed after using a challenge and before
 * responding. Prints `ready`, waits for a byte on standard input, prints the
 * results as a JSON array.
 */

import { openStore, type RecordStore } from "@sig/consumer/store";
import { isSigError } from "@sig/core";
import { type Challenges, challengesIn } from "../challenges.ts";
import { createSubjectKeys } from "../subject_key.ts";
import { verifyLogin } from "../verify_login.ts";

/** Returns `verified` and the challenge, or the error code, of each. */
export async function verifyAll(
  store: RecordStore,
  attestations: readonly string[],
  changes: Partial<Challenges> = {},
): Promise<string[]> {
  const options = {
    challenges: { ...challengesIn(store), ...changes },
    resolveKey: createSubjectKeys(),
    now: () => new Date(),
  };
  return await Promise.all(attestations.map(async (attestation) => {
    try {
      const { challenge_id } = await verifyLogin({ attestation }, options);
      return `verified ${challenge_id}`;
    } catch (error) {
      return isSigError(error) ? error.code : String(error);
    }
  }));
}

if (import.meta.main) {
  const [storeText = "", file = "", mode] = Deno.args;
  const attestations = JSON.parse(await Deno.readTextFile(file));
  const store = await openStore(storeText);
  const dying: Partial<Challenges> = {
    async consume(id, at) {
      const answer = await challengesIn(store).consume(id, at);
      Deno.kill(Deno.pid, "SIGKILL");
      return answer;
    },
  };
  console.log("ready");
  await Deno.stdin.read(new Uint8Array(1));
  const changes = mode === "die" ? dying : {};
  console.log(JSON.stringify(await verifyAll(store, attestations, changes)));
  await store.close();
}
