/** The cases of `vectors/feed`, as a person would bring them to the page. @module */

const VECTORS = new URL("../../../vectors/feed/", import.meta.url);

/** A file for the browser's file chooser. */
export interface ChosenFile {
  /** Its name. */
  readonly name: string;
  /** Its type, which nobody looks at. */
  readonly mimeType: string;
  /** Its content. */
  // deno-lint-ignore no-node-globals -- what playwright takes
  readonly buffer: Buffer;
}

const PATHS: readonly (readonly [string, string])[] = [
  ["sig.json", ".well-known/sig.json"],
  ["jwks.json", ".well-known/jwks.json"],
  ["did.json", ".well-known/did.json"],
  ["events.jsonl", ".well-known/sig/events.jsonl"],
];

/** The documents of a case that are there, as files. */
export async function feedFiles(name: string): Promise<ChosenFile[]> {
  const { Buffer } = await import("node:buffer");
  const files: ChosenFile[] = [];
  for (const [file, path] of PATHS) {
    const bytes = await Deno.readFile(new URL(`${name}/${path}`, VECTORS))
      .catch(() => undefined);
    if (bytes === undefined) continue;
    files.push({
      name: file,
      mimeType: "application/octet-stream",
      buffer: Buffer.from(bytes),
    });
  }
  return files;
}

/** What a verifier must make of a case. */
export async function expectedOf(name: string): Promise<Expected> {
  const text = await Deno.readTextFile(
    new URL(`${name}/expected.json`, VECTORS),
  );
  return JSON.parse(text);
}

/** `expected.json`, as far as it is read here. */
export interface Expected {
  readonly result: "valid" | "invalid";
  readonly code?: string;
  readonly line?: number;
  readonly sequence?: number;
  readonly last_sequence?: number;
  readonly by_relationship_id?: Record<string, unknown>;
}

/** The names of all cases that are judged with the reader's defaults. */
export async function feedCases(): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(VECTORS)) {
    const expected = await expectedOf(name) as { options?: unknown };
    if (expected.options === undefined) names.push(name);
  }
  return names.sort();
}
