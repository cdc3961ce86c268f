/** The documents of a place, read and changed by hand. @module */

import { parseFeedLine } from "@sig/core";
import type { Place } from "./support.ts";

/** A JSON object. */
export type Json = { [name: string]: unknown };

/** Reads a document. */
export async function readJson(place: Place, name: string): Promise<Json> {
  return JSON.parse(
    await Deno.readTextFile(`${place.dir}/.well-known/${name}`),
  ) as Json;
}

/** Writes a document. */
export async function writeJson(place: Place, name: string, value: Json) {
  await Deno.writeTextFile(
    `${place.dir}/.well-known/${name}`,
    JSON.stringify(value),
  );
}

/** The keys that signed the feed, line by line. */
export async function kids(place: Place): Promise<string[]> {
  const lines = (await Deno.readTextFile(place.feed)).trimEnd().split("\n");
  return lines.map((line) => parseFeedLine(line).header.kid);
}
