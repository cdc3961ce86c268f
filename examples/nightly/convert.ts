/**
 * Turns an export of a personnel system into a list for `sig plan`.
 *
 *   convert.ts EXPORT.csv KEYS.csv > list.json
 *
 * EXPORT.csv has the columns of {@linkcode COLUMNS}, and KEYS.csv which subject
 * each number is: `number,subject`, a row for each enrolled person.
 *
 * @module
 */

import { parse } from "@std/csv/parse";

const COLUMNS = ["number", "name", "position", "entry", "exit"];

/** What a position gives: rights are decided here, not by the other system. */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  "Head of Sales": ["refund", "report"],
  "Sales clerk": ["refund"],
};

/** The rows below the header, which must be this one. */
async function read(path: string, columns: readonly string[]) {
  const text = await Deno.readTextFile(path);
  const [header, ...rows] = parse(text.replace(/^\ufeff/, ""));
  const bad = rows.findIndex((row) => row.length !== columns.length);
  if (header?.join() === columns.join() && bad < 0) return rows;
  const place = bad < 0 ? "row 1" : `row ${bad + 2}`;
  throw new Error(`${path}, ${place}: must have ${columns.join()}`);
}

if (import.meta.main) {
  const [exported = "", keys = ""] = Deno.args;
  const subjects = new Map(
    (await read(keys, ["number", "subject"]))
      .map(([number, subject]) => [number, subject]),
  );
  const list = [];
  for (const row of await read(exported, COLUMNS)) {
    const [number, name, position = "", entry, exit] = row;
    const subject = subjects.get(number);
    if (subject === undefined) {
      console.error(`${number} is not enrolled: sig invite`);
      continue;
    }
    list.push({
      // The name stays local; nothing else of the person is published.
      ...{ subject, type: "employee", roles: ROLES[position] ?? [], name },
      ...{ valid_from: entry || null, valid_until: exit || null },
    });
  }
  console.log(JSON.stringify(list, null, 2));
}
