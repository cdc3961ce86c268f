/**
 * Brings the test vectors of other projects from where these publish them, as
 * `vectors/sources.json` lists them. Run by `deno task vectors:fetch`.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { ROOT, sha256 } from "./workspace.ts";

/** A file of another project. */
export interface VectorSource {
  /** Its path below the folder. */
  readonly file: string;
  /** Its address at a pinned commit; what ends in `.gz` is decompressed. */
  readonly url: string;
  /** SHA-256 of its bytes, in hexadecimal digits. */
  readonly sha256: string;
  /** An SPDX identifier. */
  readonly licence: string;
}

/** What `vectors/sources.json` lists. */
export function readSources(): readonly VectorSource[] {
  const path = new URL("vectors/sources.json", ROOT);
  return JSON.parse(Deno.readTextFileSync(path));
}

/** Files that are asked for at once. */
const CONNECTIONS = 8;

/**
 * Fetches the files that are missing.
 *
 * @param sources The files.
 * @param folder Where they go; a file there is never overwritten.
 * @returns What is wrong, by file: other bytes, or no answer.
 */
export async function fetchVectors(
  sources: readonly VectorSource[],
  folder: string,
): Promise<readonly string[]> {
  const faults: string[] = [];
  const waiting = sources.values();
  let isReachable = true;
  const fetchNext = async () => {
    for (const source of waiting) {
      if (!isReachable) return;
      try {
        await fetchVector(source, `${folder}/${source.file}`);
      } catch (error) {
        const { message, cause } = error as Error;
        // Where its host can't be reached, the others can't be fetched either.
        isReachable = !(error instanceof TypeError);
        faults.push(`${source.file}: ${(cause as Error)?.message ?? message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, fetchNext));
  return faults.sort();
}

async function fetchVector(
  source: VectorSource,
  path: string,
): Promise<void> {
  const present = await Deno.readFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (present !== undefined) {
    await requireDigest(present, source, `${path} has other bytes, remove it`);
    return;
  }
  const response = await fetch(source.url);
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`${source.url} answers ${response.status}`);
  }
  const body = source.url.endsWith(".gz")
    ? response.body!.pipeThrough(new DecompressionStream("gzip"))
    : response.body;
  const bytes = await new Response(body).bytes();
  await requireDigest(bytes, source, `${source.url} has other bytes`);
  await Deno.mkdir(path.replace(/\/[^/]*$/, ""), { recursive: true });
  // Renamed, so that a file is whole or missing.
  await Deno.writeFile(`${path}.part`, bytes);
  await Deno.rename(`${path}.part`, path);
}

async function requireDigest(
  bytes: Uint8Array<ArrayBuffer>,
  { sha256: expected }: VectorSource,
  message: string,
): Promise<void> {
  const digest = await sha256(bytes);
  if (digest === expected) return;
  throw new Error(`${message}: SHA-256 ${digest}, expected ${expected}`);
}

if (import.meta.main) {
  const { out } = parseArgs(Deno.args, {
    string: ["out"],
    default: {
      out: decodeURIComponent(new URL("vectors/others", ROOT).pathname),
    },
    unknown: (arg) => {
      console.error(
        `unexpected argument: ${arg}. Usage: vectors:fetch [--out DIR]`,
      );
      Deno.exit(2);
    },
  });
  const sources = readSources();
  const faults = await fetchVectors(sources, out);
  for (const fault of faults) console.error(`Cannot fetch ${fault}`);
  if (faults.length > 0) Deno.exit(1);
  console.log(`${sources.length} files in ${out}`);
}
