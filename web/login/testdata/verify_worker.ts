/**
 * Verifies many attestations concurrently, in this process or as another one.
 * Arguments of the process: the store; a JSON file with two lists of
 * attestations. Prints `ready` and, after a byte on standard input, the results
 * of `answer` as a JSON array. After another byte it is killed when it has used
 * the challenge of `die`, before responding.
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
  const [storeText = "", file = ""] = Deno.args;
  const { answer, die } = JSON.parse(await Deno.readTextFile(file));
  const store = await openStore(storeText);
  const dying: Partial<Challenges> = {
    async consume(id, at) {
      const consumption = await challengesIn(store).consume(id, at);
      Deno.kill(Deno.pid, "SIGKILL");
      return consumption;
    },
  };
  const awaitByte = () => Deno.stdin.read(new Uint8Array(1));
  console.log("ready");
  await awaitByte();
  console.log(JSON.stringify(await verifyAll(store, answer)));
  await awaitByte();
  await verifyAll(store, die, dying);
}
