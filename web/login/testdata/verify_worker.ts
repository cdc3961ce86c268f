/**
 * Verifies many attestations concurrently, as one of several processes.
 * Arguments: the store; a file with the attestations as a JSON array; `answer`,
 * or `die` to be killed after using a challenge and before responding. Prints
 * `ready`, waits for a byte on standard input, prints the results as a JSON
 * array.
 */

import { openStore } from "@sig/consumer/store";
import { isSigError } from "@sig/core";
import { challengesIn } from "../challenges.ts";
import { createSubjectKeys } from "../subject_key.ts";
import { verifyLogin } from "../verify_login.ts";

const [storeText = "", file = "", mode] = Deno.args;
const attestations: readonly string[] = JSON.parse(
  await Deno.readTextFile(file),
);
const opened = await openStore(storeText);
const known = challengesIn(opened);
const challenges = mode !== "die" ? known : {
  ...known,
  async consume(id: string, at: Date) {
    const answer = await known.consume(id, at);
    Deno.kill(Deno.pid, "SIGKILL");
    return answer;
  },
};
const options = {
  challenges,
  resolveKey: createSubjectKeys(),
  now: () => new Date(),
};

console.log("ready");
await Deno.stdin.read(new Uint8Array(1));
const outcomes = await Promise.all(attestations.map(async (attestation) => {
  try {
    return `verified ${
      (await verifyLogin({ attestation }, options)).challenge_id
    }`;
  } catch (error) {
    return isSigError(error) ? error.code : String(error);
  }
}));
console.log(JSON.stringify(outcomes));
await opened.close();
