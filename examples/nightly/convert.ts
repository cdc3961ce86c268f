/**
 * Turns an export of a personnel system into a list for `sig plan`.
 *
 *   convert.ts EXPORT.csv KEYS.csv > list.json
 *
 * EXPORT.csv has the columns of {@linkcode COLUMNS}, and KEYS.csv the subject of
 * each number: `number,subject`, one row for each enrolled person.
 *
 * @module
 */

import { parse } from "@std/csv/parse";

const COLUMNS = ["number", "name", "position", "entry", "exit"];

/** The roles of each position: rights are defined here, not by the other system. */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  "Head of Sales": ["refund", "report"],
  "Sales clerk": ["refund"],
};

/** Returns the rows below the header, which must have these columns. */
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
      // The name stays local and is not published.
      ...{ subject, type: "employee", roles: ROLES[position] ?? [], name },
      ...{ valid_from: entry || null, valid_until: exit || null },
    });
  }
  console.log(JSON.stringify(list, null, 2));
}
