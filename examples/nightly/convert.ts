/**
 * Turns an export of a personnel system into a list for `sig plan`.
 *
 *   convert.ts EXPORT.csv > list.json
 *
 * EXPORT.csv has the columns of {@linkcode COLUMNS}. People are identified by
 * their number; the people file of the issuer knows the keys of each number.
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
  throw new Error(`${place} must have ${columns.join()}`);
}

if (import.meta.main) {
  const [exported = ""] = Deno.args;
  const rows = await read(exported, COLUMNS).catch((error) => {
    console.error(`${exported}: ${error.message}`);
    Deno.exit(1);
  });
  const list = rows.map(([person, name, position = "", entry, exit]) => ({
    // Number and name stay local and are not published.
    ...{ person, name, type: "employee", roles: ROLES[position] ?? [] },
    ...{ valid_from: entry || null, valid_until: exit || null },
  }));
  console.log(JSON.stringify(list, null, 2));
}
