/**
 * Downloads the test vectors of other projects that `vectors/sources.json`
 * lists. Run by `deno task vectors:fetch`.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { ROOT, sha256 } from "./workspace.ts";

/** A file of another project. */
export interface VectorSource {
  /** Path relative to the target folder. */
  readonly file: string;
  /** URL at a pinned commit; a file `.gz` is decompressed. */
  readonly url: string;
  /** SHA-256 of the file in hexadecimal digits. */
  readonly sha256: string;
  /** SPDX identifier of the licence. */
  readonly licence: string;
}

/** Reads `vectors/sources.json`. */
export function readSources(): readonly VectorSource[] {
  const path = new URL("vectors/sources.json", ROOT);
  return JSON.parse(Deno.readTextFileSync(path));
}

/** Maximum number of concurrent downloads. */
const CONNECTIONS = 8;

/**
 * Downloads the missing files.
 *
 * @param sources The files to download.
 * @param folder The target folder; existing files are never overwritten.
 * @returns the errors, one per file: other bytes, or no response.
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
        // If the host is unreachable, the other files would fail as well.
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
  // Renamed after writing, so that a file is never incomplete.
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
