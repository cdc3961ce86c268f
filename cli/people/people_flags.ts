/** What `plan` and `apply` share: the list, and how it is compared. @module */

import { RELATIONSHIP_TYPES, type RelationshipType } from "@sig/core";
import type { PlanOptions } from "@sig/issuer";
import { type FlagSpec, usageError } from "@sig/api/flags";
import type { Call } from "../command_line/command.ts";
import { formatOf, type ListFormat } from "./list_format.ts";
import { readInput } from "../terminal/read_input.ts";

/** Bytes of a list: 10,000 people take about 2 MB. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Flags that name a list and say what it manages. */
export const LIST_FLAGS: readonly FlagSpec[] = [
  { name: "from", value: "FILE|-", help: "the list of people; - is stdin" },
  {
    name: "input",
    value: "csv|json|yaml",
    help: "how the list is written; its name tells unless told",
    choices: ["csv", "json", "yaml"],
  },
  {
    name: "scope",
    value: "type=TYPE",
    help: "the list is about these types only",
    repeat: true,
  },
  {
    name: "prune",
    help: "end active relationships that are not in the list",
  },
];

/** The list's bytes and format. */
export async function readList(
  call: Call,
): Promise<{ readonly bytes: Uint8Array; readonly format: ListFormat }> {
  const { io } = call;
  const path = call.text("from");
  if (path === undefined) {
    throw usageError("--from is required", {
      flag: "--from",
      hint: "For example: --from people.csv.",
    });
  }
  const format = call.text("input") as ListFormat | undefined ??
    formatOf(path);
  if (format === undefined) {
    throw usageError("--input is required where no file name tells it", {
      flag: "--input",
      hint: "One of csv, json, yaml. A spreadsheet is saved as CSV.",
    });
  }
  const bytes = await readInput(io, path, MAX_LIST_BYTES);
  return { bytes, format };
}

/** `--scope` and `--prune`. */
export function planOptions(call: Call): PlanOptions {
  const scopes = call.texts("scope");
  const types = scopes.map(readScope);
  return {
    prune: call.on("prune"),
    ...(types.length === 0 ? {} : { types }),
  };
}

function readScope(scope: string): RelationshipType {
  const found = RELATIONSHIP_TYPES.find((type) => scope === `type=${type}`);
  if (found !== undefined) return found;
  throw usageError("--scope must be type=TYPE", {
    flag: "--scope",
    hint: `TYPE is one of ${RELATIONSHIP_TYPES.join(", ")}.`,
  });
}
