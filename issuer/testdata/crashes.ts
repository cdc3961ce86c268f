/** What a crash at each step of some work leaves on the disk. @module */

import { dirname } from "node:path";
import type { FaultHooks, Issuer } from "@sig/issuer";
import { modeOf, type Place, walk } from "./support.ts";

/** What a process that is killed at a step leaves. */
export interface Crash {
  /** The step, as in `FaultHooks.onStep`. */
  readonly step: string;
  /** The lines that the work had said before. */
  readonly lines: readonly string[];
  /** Puts the files of the place back as they were at that step. */
  restore(): void;
}

/**
 * Runs the work once, and copies the files of its place at each step: each copy
 * is what the system keeps of a process that is killed there.
 */
export async function crashesOf(
  { base }: Pick<Place, "base">,
  work: (faults: FaultHooks, say: (line: string) => void) => Promise<unknown>,
): Promise<readonly Crash[]> {
  const crashes: Crash[] = [];
  const lines: string[] = [];
  const onStep = (step: string) => {
    const files = new Map(
      [...walk(base)].map((path) => [
        path,
        {
          bytes: Deno.readFileSync(base + path),
          mode: modeOf(base + path),
        },
      ]),
    );
    const restore = () => {
      for (const path of walk(base)) {
        if (!files.has(path)) Deno.removeSync(base + path);
      }
      for (const [path, { bytes, mode }] of files) {
        Deno.mkdirSync(dirname(base + path), { recursive: true });
        // In place: the feed stays the same file.
        Deno.writeFileSync(base + path, bytes, { mode });
      }
    };
    crashes.push({ step, lines: [...lines], restore });
  };
  // 300 bytes are less than a line.
  await work({ onStep, maxWriteBytes: 300 }, (line) => lines.push(line));
  return crashes;
}

/** Opens an issuer for some work, and closes it. */
export async function withIssuer<T>(
  place: Place,
  work: (issuer: Issuer) => Promise<T>,
  faults: FaultHooks = {},
): Promise<T> {
  await using issuer = await place.open({ faults });
  return await work(issuer);
}
