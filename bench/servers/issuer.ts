/**
 * An issuer with a number of events, each about a different person, in a
 * separate process: `POST /more` publishes the next ten, which are signed in
 * advance. Prints its URL. Arguments: events, and the number of extensions.
 *
 * @module
 */

import {
  feedOf,
  importTestKeys,
  lineOf,
  makeDocuments,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { startConditionalServer } from "../../tests/kit/conditional_server.ts";
import { benchEvent } from "../feed.ts";

const [EVENTS = 1_000, TIMES = 0] = Deno.args.map(Number);
const NEW_EVENTS = 10;

const server = startConditionalServer();
const { did, origin, documents } = server;
const [key] = await importTestKeys();
const lines: string[] = [];
for (let i = 1; i <= EVENTS + TIMES * NEW_EVENTS; i++) {
  lines.push(await lineOf({ ...benchEvent(did, i) }, key));
}
const all = feedOf(lines);
let bytes = feedOf(lines.slice(0, EVENTS)).length;
let events = EVENTS;
for (
  const [path, text] of makeDocuments({ did, origin, keys: [key], lines: [] })
) documents.set(path, text);
// Without an entity tag, whose calculation would cost more than the measured
// work.
documents.set(PATHS.feed, ({ headers }) => {
  const [, from] = /^bytes=(\d+)-$/.exec(headers.get("range") ?? "") ?? [];
  const type = { "content-type": "application/x-ndjson" };
  if (from === undefined) {
    return new Response(all.subarray(0, bytes), { headers: type });
  }
  const range = `bytes ${from}-${bytes - 1}/${bytes}`;
  return new Response(all.subarray(Number(from), bytes), {
    status: 206,
    headers: { ...type, "content-range": range },
  });
});
documents.set("/more", () => {
  for (const line of lines.slice(events, events += NEW_EVENTS)) {
    bytes += line.length + 1;
  }
  return new Response(null, { status: 204 });
});
console.log(origin);
