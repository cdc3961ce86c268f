/** A program that appends to an issuer, for tests of processes. @module */

import { isSigError } from "@sig/core";
import { createFileKeyStore, createFileStore, openIssuer } from "@sig/issuer";
import type { Job } from "./support.ts";

const task: Job & { readonly dir: string; readonly keysDir: string } = JSON
  .parse(Deno.args[0]!);
const { count = 1, dir, keysDir, killAt, maxWriteBytes, name, work } = task;
let { passes = 0 } = task;

const faults = {
  onStep(step: string) {
    if (step === killAt && passes-- <= 0) Deno.kill(Deno.pid, "SIGKILL");
  },
  ...(maxWriteBytes === undefined ? {} : { maxWriteBytes }),
};
const lockTimeoutMs = 30_000;
const store = createFileStore(dir, { faults });

/** Says a line for each acknowledged operation. */
function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

try {
  const keys = createFileKeyStore(keysDir);
  const now = () => new Date("2026-03-01T09:00:00Z");
  const options = { store, keys, now, faults, lockTimeoutMs };
  await using issuer = await openIssuer(options);
  const append = async (n: number) => {
    const { event_id, sequence } = await issuer.append({
      event_type: "relationship.upsert",
      event_id: `${name}-${n}`,
      relationship_id: `${name}-r${n}`,
      subject: "did:web:alice.example",
      relationship_type: "employee",
    });
    say(`${event_id} ${sequence}`);
  };
  if (work === "hold") {
    await store.exclusively({ timeoutMs: lockTimeoutMs }, async () => {
      say("holding");
      // Until the test closes the standard input.
      await new Response(Deno.stdin.readable).text();
    });
  }
  if (work === "exhaust") {
    const files: Deno.FsFile[] = [];
    try {
      for (;;) files.push(Deno.openSync(`${dir}/.well-known/sig.json`));
    } catch {
      // No more files can be opened now.
    }
    await append(1).catch(refused);
    for (const file of files) file.close();
  }
  if (work !== "hold") { for (let n = 1; n <= count; n++) await append(n); }
} catch (error) {
  refused(error);
  Deno.exitCode = 2;
}

function refused(error: unknown): void {
  if (!isSigError(error)) throw error;
  say(`refused ${error.code} ${error.message}`);
}
