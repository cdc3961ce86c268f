/** Runs a job on an issuer, for the tests; as a program, in a process. @module */

import { isSigError } from "@sig/core";
import {
  createFileKeyStore,
  createFileStore,
  type EventDraft,
  type FaultHooks,
  initIssuer,
  type Issuer,
  openIssuer,
} from "@sig/issuer";
import { importSigningKey } from "@sig/jose";
import type { Job } from "./support.ts";

type Task = Job & { readonly dir: string; readonly keysDir: string };

/**
 * Runs a job, and says a line for each acknowledged operation.
 *
 * @returns the exit code: 2 if the job was refused.
 */
export async function perform(
  task: Task,
  say: (line: string) => void,
): Promise<number> {
  let passes = task.passes ?? 0;
  const faults: FaultHooks = {
    onStep(step) {
      const isMeant = task.killAt === "any" || step === task.killAt;
      if (!isMeant || passes-- > 0) return;
      Deno.kill(Deno.pid, task.signal ?? "SIGKILL");
      // Signals other than SIGKILL arrive with a delay.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000);
    },
    ...(task.maxWriteBytes === undefined
      ? {}
      : { maxWriteBytes: task.maxWriteBytes }),
  };

  const draft = (n: number): EventDraft => ({
    event_type: "relationship.upsert",
    event_id: `${task.name}-${n}`,
    relationship_id: `${task.name}-r${n}`,
    subject: "did:web:alice.example",
    relationship_type: "employee",
  });

  const keys = createFileKeyStore(task.keysDir);
  const store = createFileStore(task.dir, { faults });
  const lockTimeoutMs = 30_000;
  const now = () => new Date("2026-03-01T09:00:00Z");
  const open = (from = store) =>
    openIssuer({ store: from, keys, now, faults, lockTimeoutMs });
  const count = task.count ?? 1;

  const WORKS: Readonly<Record<string, (issuer: Issuer) => Promise<void>>> = {
    async append(issuer) {
      for (let n = 1; n <= count; n++) {
        const { event_id, sequence } = await issuer.append(draft(n));
        say(`${event_id} ${sequence}`);
      }
    },
    async batch(issuer) {
      const drafts = Array.from({ length: count }, (_, n) => draft(n + 1));
      for (const { event_id, sequence } of await issuer.appendAll(drafts)) {
        say(`${event_id} ${sequence}`);
      }
    },
    async exhaust(first) {
      await first.append(draft(1));
      say(`${task.name}-1 1`);
      // A separate store, which has neither locked nor opened anything yet.
      await using issuer = await open(createFileStore(task.dir, { faults }));
      const files: Deno.FsFile[] = [];
      try {
        for (;;) files.push(Deno.openSync(`${task.dir}/.well-known/sig.json`));
      } catch {
        // No more files can be opened now.
      }
      await issuer.append(draft(2)).catch((error: unknown) => {
        if (isSigError(error)) say(`refused ${error.code} ${error.message}`);
      });
      for (const file of files) file.close();
      const { sequence } = await issuer.append(draft(2));
      say(`${task.name}-2 ${sequence}`);
    },
    async checkpoint(issuer) {
      const init = task.name === "init";
      say(`signed ${(await issuer.checkpoint({ init })).size}`);
    },
    async recover(issuer) {
      const path = `${task.keysDir}/recovery-test-keys.json`;
      const [first, second] = JSON.parse(await Deno.readTextFile(path));
      const { publicJwk } = await importSigningKey(second);
      const { kid, events } = await issuer.recover({
        recoveryKey: await importSigningKey(first),
        next: publicJwk.x,
        stolen: new Map([["orgsign-1", count]]),
      });
      say(`recovered ${kid} ${events.length}`);
    },
    async rotate(issuer) {
      const { kid } = await issuer.rotateKey({ kid: task.name ?? "key-2" });
      say(`rotated ${kid}`);
      await issuer.append(draft(1));
      say(`${task.name}-1`);
    },
  };

  try {
    if (task.work === "init") {
      const did = "did:web:acme.example";
      await initIssuer({ store, keys, did, faults, lockTimeoutMs });
      say("initialized");
    } else if (task.work === "hold") {
      await store.exclusively({ timeoutMs: lockTimeoutMs }, async () => {
        say("holding");
        // Until the test closes the standard input.
        await new Response(Deno.stdin.readable).text();
      });
    } else {
      await using issuer = await open();
      await WORKS[task.work]!(issuer);
    }
  } catch (error) {
    if (!isSigError(error)) throw error;
    say(
      `refused ${error.code} ${error.message} ${JSON.stringify(error.context)}`,
    );
    return 2;
  } finally {
    await store.close();
  }
  return 0;
}

if (import.meta.main) {
  Deno.exitCode = await perform(
    JSON.parse(Deno.args[0]!),
    (line) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`)),
  );
}
