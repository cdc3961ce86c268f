/** Keeping a person's name beside the feed, never in it. @module */

import { isSigError } from "@sig/core";
import type { Call } from "../command_line/command.ts";
import { warn } from "../command_line/output.ts";
import { namesFile, readNames } from "./names.ts";

const HEADER = "subject,name";
/** Bytes of the file that are looked at to tell how it ends. */
const MAX_NAMES_BYTES = 64 * 1024 * 1024;

/**
 * Adds a row to `.sig/names.csv` of the issuer's directory. What is published
 * is published by then: that it can't be done is said, not thrown.
 */
export async function saveName(
  call: Call,
  dir: string,
  subject: string,
  name: string,
): Promise<void> {
  const path = namesFile(dir);
  const row = [subject, name].map(quoteCell).join(",");
  const byHand = (why: string) =>
    warn(call, `the name was not kept: ${why}; ${path} may get ${row}`);
  try {
    const known = (await readNames(call, dir)).get(subject);
    if (known !== undefined && known !== name.trim()) {
      byHand(`it has another one of that subject, ${known}`);
    }
    if (known !== undefined) return;
    const text = call.io.exists(path)
      ? new TextDecoder().decode(await call.io.readFile(path, MAX_NAMES_BYTES))
      : "";
    const [first] = text.split(/\r?\n/, 1);
    if (text !== "" && first !== HEADER) {
      return byHand(`its first row is not ${HEADER}`);
    }
    const before = text === ""
      ? `${HEADER}\n`
      : text.endsWith("\n")
      ? ""
      : "\n";
    await call.io.appendFile(path, `${before}${row}\n`);
    if (call.format === "text") {
      const { safe } = await import("../command_line/output.ts");
      call.io.stderr(`Kept the name ${safe(name)} in ${safe(path)}\n`);
    }
  } catch (error) {
    if (!isSigError(error)) throw error;
    byHand(error.message);
  }
}

function quoteCell(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}
