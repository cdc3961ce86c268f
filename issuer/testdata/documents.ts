/** Reads and changes the documents of an issuer in a test. @module */

import { parseFeedLine } from "@sig/core";
import type { Place } from "./support.ts";

export type Json = { [name: string]: unknown };

export async function readJson(place: Place, name: string): Promise<Json> {
  return JSON.parse(
    await Deno.readTextFile(`${place.dir}/.well-known/${name}`),
  ) as Json;
}

export async function writeJson(place: Place, name: string, value: Json) {
  await Deno.writeTextFile(
    `${place.dir}/.well-known/${name}`,
    JSON.stringify(value),
  );
}

/** Returns the kids that signed the feed, line by line. */
export async function kids(place: Place): Promise<string[]> {
  const lines = (await Deno.readTextFile(place.feed)).trimEnd().split("\n");
  return lines.map((line) => parseFeedLine(line).header.kid);
}
