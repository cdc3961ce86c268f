/** Adds to the operator's people file, after an append. @module */

import { isSigError } from "@sig/core";
import type { PersonKey, SavedPeople } from "@sig/issuer/people";
import type { Call } from "../command_line/command.ts";
import { counted, safe, warn } from "../output/write.ts";
import { peopleFile, type PeopleValue } from "./people.ts";

/**
 * Adds keys to the people file of the issuer's directory. A failure is a
 * warning, not an error, because the events are already published.
 */
export async function savePeopleFile(
  call: Call<PeopleValue>,
  dir: string,
  keys: readonly PersonKey[],
): Promise<void> {
  if (keys.length === 0) return;
  const path = peopleFile(dir);
  let done: SavedPeople;
  try {
    const { createFileStore } = await import("@sig/issuer");
    const { savePeople } = await import("@sig/issuer/people");
    await using store = createFileStore(dir);
    done = await savePeople(store, keys);
  } catch (error) {
    if (!isSigError(error)) throw error;
    const count = counted(keys.length, "key");
    return warn(
      call,
      `${count} of people not saved in ${path}: ${error.message}`,
    );
  }
  for (const { subject } of done.kept) {
    warn(
      call,
      `${path} has another person or name for ${subject}, and keeps it`,
    );
  }
  if (done.saved.length === 0 || call.format !== "text") return;
  const [{ name, person, subject }] = done.saved as [PersonKey];
  const what = done.saved.length === 1
    ? name ?? person ?? subject
    : counted(done.saved.length, "key");
  call.io.stderr(`Saved ${safe(what)} in ${safe(path)}\n`);
}
